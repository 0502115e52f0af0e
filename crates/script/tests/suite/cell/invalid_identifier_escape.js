var \u0030a = 1
