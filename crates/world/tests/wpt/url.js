const failed = []
let count = 0
const PARTS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
for (const test of input) {
  if (typeof test === 'string') continue
  count++
  const name = `url ${JSON.stringify([test.input, test.base ?? null])}`
  let url
  try { url = typeof test.base === 'string' ? new URL(test.input, test.base) : new URL(test.input) } catch { url = undefined }
  if (test.failure ? url !== undefined : url === undefined || PARTS.some((part) => part in test && url[part] !== test[part])) failed.push(name)
}
return [count, failed]
