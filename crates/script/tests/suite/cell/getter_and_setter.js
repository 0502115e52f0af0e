const o = { get a() { while (1) break; return 1 }, set a(v) { for (;;) break }, async *g() { for await (const x of v) yield x } }
