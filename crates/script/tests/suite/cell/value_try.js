try { f() } catch (e) { e.message } finally { g() }
