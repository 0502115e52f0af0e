throw new Error("x")
