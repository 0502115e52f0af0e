try { a() } catch { 1 }
