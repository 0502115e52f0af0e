o.search = 1
