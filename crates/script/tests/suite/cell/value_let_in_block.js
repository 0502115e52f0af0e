{ let x = 1 }
