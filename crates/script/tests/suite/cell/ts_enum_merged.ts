enum E { A }
enum E { B = 7 }
