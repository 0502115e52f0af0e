abstract class A<T = {}> extends Base<T>
  implements I, J<T> {
  private readonly a: number = 1
  public static override b?: string
  protected [c]: T
  declare d: T;
  abstract e(): void
  abstract f: number;
  g!: T
  *h(): Generator<T> { for (;;) yield this.g }
  [key: string]: any
  #i?: number
  i(): void
  i(x?: T): void { }
  get j(): T { return this.g! }
  static async k<U>(this: U, x: U) { return x }
  l?(): void { }
}
