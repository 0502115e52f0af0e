const search = 1
