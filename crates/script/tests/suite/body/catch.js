try { a() } catch (e) { b(e) }
try { a() } catch { b() }
try { a() } catch
{ }
try { a() } finally { b() }
