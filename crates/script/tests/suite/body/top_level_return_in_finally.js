try { a() } finally { return }
