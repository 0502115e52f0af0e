const f = xs => { for (const x of xs) g(x) }, h = () => (() => { while (1) break })()
