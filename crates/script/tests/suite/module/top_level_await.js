const x = await 1
globalThis.y = x
