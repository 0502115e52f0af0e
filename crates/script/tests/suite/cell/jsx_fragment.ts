const a: number = 1
const el = <>{a}</>
