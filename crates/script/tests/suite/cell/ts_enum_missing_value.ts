enum E { A = "x", B }
