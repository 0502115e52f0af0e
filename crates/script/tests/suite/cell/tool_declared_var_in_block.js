if (x) { var search = 1 }
