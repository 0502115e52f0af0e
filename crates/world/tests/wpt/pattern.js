const failed = []
let count = 0
const PARTS = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash']
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other)
// Groups without a value are told as null in the data.
const plain = (part) => ({ input: part.input, groups: Object.fromEntries(Object.entries(part.groups).map(([key, value]) => [key, value ?? null]).sort()) })
function check(test) {
  let pattern
  try { pattern = new URLPattern(...test.pattern) } catch { return test.expected_obj === 'error' }
  if (test.expected_obj === 'error') return false
  for (const [part, value] of Object.entries(test.expected_obj ?? {})) if (PARTS.includes(part) && pattern[part] !== value) return false
  const inputs = test.inputs ?? []
  if (test.expected_match === 'error') {
    try { pattern.test(...inputs) } catch { return true }
    return false
  }
  const found = pattern.exec(...inputs)
  if (pattern.test(...inputs) !== (found !== null) || (found !== null) !== (test.expected_match !== null && test.expected_match !== undefined)) return false
  if (found === null) return true
  return Object.entries(test.expected_match).every(([part, value]) => !PARTS.includes(part) || same(plain(found[part]), plain(value)))
}
for (const test of input) {
  if (typeof test === 'string') continue
  count++
  let fine
  try { fine = check(test) } catch { fine = false }
  if (!fine) failed.push(`pattern ${JSON.stringify([test.pattern, test.inputs ?? null])}`)
}
return [count, failed]
