return 1 // done
