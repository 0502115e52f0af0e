search = 1
