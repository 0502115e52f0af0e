const m = new Map<string, number[]>()
foo<A, B>(x)
const f = bar<string>
const g = async <T,>(x: T) => x
const h = <const T extends unknown[]>(...x: T) => x
tag<string>`a`
class A extends B<C> {}
