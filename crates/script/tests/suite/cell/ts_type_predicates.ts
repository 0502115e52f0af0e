function isA(x: unknown): asserts x is A { }
const isB = (x: unknown): x is B => true
class C { isD(): this is D { return true } }
