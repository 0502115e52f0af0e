if (a) break
