const r = await fetchIt()
await r.json()
