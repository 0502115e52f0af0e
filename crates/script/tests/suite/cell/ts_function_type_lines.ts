let f: (
  a: number,
) => void = g
f(1)
