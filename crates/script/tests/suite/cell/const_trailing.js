const total = 40 + 2
