for (const k in o) f(k)
for (k in o);
for (o.k in p) { }
