for (;;) break
while (a) b()
do c(); while (d)
