interface A { x: number }
type B<T> = { [K in keyof T]?: T[K] }
foo
type C = A
(bar)
const v: A = { x: 1 }
