const a = <any>{ b: 1 }
const f = () => <T>{ c: 1 }
const g = x as unknown as T
const h = y satisfies Z
const i = j!.k![0]!()
;(l as any).m = (<N>o).p
q! += 1
