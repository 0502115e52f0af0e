class A {
  x = 1
  private ["y"] = 2
  public *z() {}
  a = b as C
  ["d"] = 1
}
