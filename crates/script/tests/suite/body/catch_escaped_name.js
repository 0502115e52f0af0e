try { a() } catch (\u0065) { b(e) }
