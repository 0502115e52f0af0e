switch (x) { case 1: "one"; break; case 2: { "two"; break } default: "many" }
