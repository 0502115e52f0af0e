const f = (search) => { search = 2; return search }
f(search("x"))
