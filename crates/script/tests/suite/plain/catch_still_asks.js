try { a() } catch { b() }
