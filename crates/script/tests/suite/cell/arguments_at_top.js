arguments[0]
