const failed = []
let count = 0
for (const [text, bytes] of input) {
  count++
  let is
  try { is = [...atob(text)].map((char) => char.charCodeAt(0)) } catch (error) { is = error.name === 'InvalidCharacterError' ? null : error.name }
  if (JSON.stringify(is) !== JSON.stringify(bytes)) failed.push(`base64 ${JSON.stringify(text)}`)
}
return [count, failed]
