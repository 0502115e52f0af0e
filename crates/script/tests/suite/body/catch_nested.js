try { try { a() } catch (e) { throw e } } catch (e) { try { b() } catch { } }
