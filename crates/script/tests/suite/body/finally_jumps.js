function f() { try { a() } finally { return 1 } }
for (;;) { try { b() } finally { if (x) continue; else break } }
function g() { try { } finally { const h = () => { return 2 }; for (;;) break; return } }
l: try { } finally { break l }
