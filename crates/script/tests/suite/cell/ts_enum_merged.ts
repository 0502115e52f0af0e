enum E { A }
enum E { B = A + 7, C = B }
