await Promise.all(xs.map(async x => { for await (const y of x) await y }))
return 1
