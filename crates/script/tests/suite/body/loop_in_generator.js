function* g() { while (true) yield 1 }
async function* h() { for await (const x of g()) yield* x }
