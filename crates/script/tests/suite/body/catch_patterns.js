try { a() } catch ({ message, cause: { code = f() } }) { b() }
try { a() } catch ([x, ...y] /* c */ ) // d
{ g(x) }
