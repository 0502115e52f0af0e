await 1
