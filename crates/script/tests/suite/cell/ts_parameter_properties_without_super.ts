class B extends A { constructor(private x: number) { if (x) super(x); } }
