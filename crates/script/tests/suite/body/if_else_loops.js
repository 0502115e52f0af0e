if (a) for (;;) b(); else while (c) d()
if (e) do f(); while (g); else for (const h in i) j()
else_()
