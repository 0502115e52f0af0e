const enum E {
  // first
  A = 1, // one
  B,

  C = A << B,
}
enum E2 { X = `x`, Y = `y${1}`, Z = "a" + X, W = { X }.X }
E.A
