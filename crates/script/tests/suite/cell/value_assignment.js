total = 5
