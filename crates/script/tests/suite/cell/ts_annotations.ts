const n: number = 41
let s: string | undefined
let [a, b]: [number, string] = pair, c!: boolean
function f(x: number, y?: string, ...z: unknown[]): x is 3 { return true }
n + 1
