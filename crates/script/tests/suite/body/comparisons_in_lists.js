const kept = [i < N, M > (j), k < left, right > (l), m < 3, 4 > (n)]
return f(a < b, c > (d), e < F, G >> (h))
