// Types everywhere a type may stand.
type Point = { x: number; y: number };
type Named<T extends object = {}> = T & { readonly name: string };
interface Shape extends Partial<Named> {
  area(): number;
  scale?(by: number): this;
  [key: `data-${string}`]: unknown;
}

enum Kind { Circle, Square = 4, Poly, Label = "label" }
const enum Flag { None = 0, A = 1 << 0, B = 1 << 1, Both = A | B }

abstract class Base<T = unknown> implements Shape {
  protected readonly kind: Kind;
  static count: number = 0;
  declare readonly ghost: string;
  extra?: T;
  constructor(kind: Kind, public name: string = "base", private readonly seen: string[] = []) {
    this.kind = kind;
    Base.count++;
    this.seen.push(name);
  }
  abstract area(): number;
  describe(): string;
  describe(long: boolean): string;
  describe(long?: boolean): string {
    return long ? `${this.name}:${this.seen!.length}` : this.name;
  }
}

class Circle extends Base<Point> {
  #radius: number;
  constructor(readonly radius: number, override readonly name: string = "circle") {
    super(Kind.Circle, name);
    this.#radius = radius;
  }
  override area(): number {
    return Math.round(Math.PI * this.#radius ** 2);
  }
}

const total = <T extends Shape>(shapes: readonly T[], start = 0 as number): number => {
  let sum = start;
  for (const shape of shapes as T[]) sum += shape!.area();
  return sum;
};

function isCircle(this: void, value: unknown): value is Circle {
  return value instanceof Circle;
}

const shapes = [new Circle(1), new Circle(2, "big")] satisfies Shape[];
const result = [total<Circle>(shapes), Kind[Kind.Poly], Kind.Label, Flag.Both, shapes.filter(isCircle).length, (<any>shapes[1]).describe(true), Base.count];
if (JSON.stringify(result) !== '[16,"Poly","label",3,2,"big:1",2]') throw new Error(JSON.stringify(result));
return "ok" as const;
