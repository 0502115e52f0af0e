function f(a: string): void
function f(a: number): void
function f(a: any) { return a }
export {}
f(1)
