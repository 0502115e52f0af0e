return `${(() => { for (;;) return 1 })()}`
