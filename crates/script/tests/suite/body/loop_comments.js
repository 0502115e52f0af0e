for (;;) /* a */ f() /* b */ // c
while (x) // d
  g() // e
do // f
  h() // g
while (y)
