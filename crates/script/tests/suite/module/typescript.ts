import { type A, b } from "lodash"
export interface I { x: number }
export type { A }
export enum E { X = 1 }
export abstract class K<T> { abstract m(): void }
export const f = <T,>(x: T): T => x as T
export default f satisfies Function
