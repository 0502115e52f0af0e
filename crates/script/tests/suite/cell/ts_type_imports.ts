import type { A } from "a"
import { type B } from "b"
export type { C } from "c"
export type D = A
let x: B = 1
