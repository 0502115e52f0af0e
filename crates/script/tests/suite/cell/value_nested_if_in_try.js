try { if (a) { b } else { c } } catch { d }
