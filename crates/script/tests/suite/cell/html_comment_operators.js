let x = 3, y = 2
while (x-->0) y
x<!--y
x<! --y; x<!y; x--
> 0
