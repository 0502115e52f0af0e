await 5
