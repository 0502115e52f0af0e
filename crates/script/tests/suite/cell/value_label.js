out: { if (a) break out; b }
