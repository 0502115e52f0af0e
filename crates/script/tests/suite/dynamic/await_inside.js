(async () => { await 1 })()
