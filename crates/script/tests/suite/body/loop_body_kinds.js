for (;;) if (a) b; else c
for (;;) { { } }
for (;;) try { } finally { }
for (;;) throw x
for (;;) debugger
for (;;) var v = 1
for (;;) lab: x()
