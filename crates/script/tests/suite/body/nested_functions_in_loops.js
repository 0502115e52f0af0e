for (const a of b) (function () { for (const c of a) c() })()
