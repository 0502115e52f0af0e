/a(b)c/.test(s)
