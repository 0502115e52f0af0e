export const a = 1, { b, c: [d] } = x
export let e
export function f() { for (;;) break }
export class G {}
const h = 2
export { h as i, h as default, h as "a b" }
