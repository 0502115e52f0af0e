for (const x of xs) switch (x) { case 1: continue; default: break }
