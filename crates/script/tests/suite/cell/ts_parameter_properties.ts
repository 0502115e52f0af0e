class A { constructor(private x: number, public readonly y = 2, z: string) { "use x"; log(this.x) } }
class B extends A { constructor(protected override x: number) { const n = x; super(n, 1, ""); this.x } }
