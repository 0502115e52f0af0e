globalThis.x = 1 + 1
