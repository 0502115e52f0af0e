const a = async <
  T,
>(x: T) => x
const b = (x: number): {
  a: number
} => ({ a: x })
const c = (
  x: number, // note
): Promise<
  void
> => { while (x) x-- }
function d() { return <
  T,
>(x: T) => x }
