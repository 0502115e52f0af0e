using f = open()
