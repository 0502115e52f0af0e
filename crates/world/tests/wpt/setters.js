const failed = []
let count = 0
for (const [part, tests] of Object.entries(input)) {
  if (part === 'comment') continue
  for (const test of tests) {
    count++
    const url = new URL(test.href)
    url[part] = test.new_value
    if (Object.entries(test.expected).some(([name, value]) => url[name] !== value)) failed.push(`setter ${JSON.stringify([part, test.href, test.new_value])}`)
  }
}
return [count, failed]
