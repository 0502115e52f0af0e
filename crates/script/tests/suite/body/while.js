while (a) b()
while (a) ;
while (a) { }
while (a) while (b) c()
