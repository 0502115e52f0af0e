if (x) return 5
6
