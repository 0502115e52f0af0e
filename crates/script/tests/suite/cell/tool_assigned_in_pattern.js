[a, { b: search }] = c
