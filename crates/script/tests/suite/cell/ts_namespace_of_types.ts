namespace N { export interface A {} export type B = A }
let a: N.A = 1
