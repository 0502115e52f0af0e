let a: "é" | "😀" = "é", throwHere = 1
throwHere
