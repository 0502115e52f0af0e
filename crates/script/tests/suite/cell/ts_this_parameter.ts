function f(this: Window, a: number) { return this }
function g(this: A) {}
function h(this: A /* c */ , ) {}
