for (;;) ;;;
while (0) {};
if (a) ; else ;
