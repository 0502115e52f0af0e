const failed = []
let count = 0
for (const [url, type, bytes] of input) {
  count++
  let is
  try {
    const response = await fetch(url)
    is = response.status === 200 && response.url !== '' ? [response.headers.get('content-type'), [...new Uint8Array(await response.arrayBuffer())]] : 'no answer'
  } catch (error) { is = error.name === 'TypeError' ? [null, undefined] : error.name }
  if (JSON.stringify(is) !== JSON.stringify([type, bytes])) failed.push(`data ${JSON.stringify(url)}`)
}
return [count, failed]
