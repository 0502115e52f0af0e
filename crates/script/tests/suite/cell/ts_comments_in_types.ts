let a: /* x */ number // y
  | string = 1 // z
a
