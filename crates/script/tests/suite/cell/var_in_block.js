{ var a = 1; }
if (a) var b = 2; else var c = 3, { d } = e
b
