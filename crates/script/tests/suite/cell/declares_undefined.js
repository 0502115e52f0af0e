let undefined = 1
