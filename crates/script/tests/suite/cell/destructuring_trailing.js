const [first] = list
