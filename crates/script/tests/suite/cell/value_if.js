if (a) 1; else if (b) { 2 } else { let x = 3; x }
