try { x() } catch (e) { var e = 2; log(e) }
