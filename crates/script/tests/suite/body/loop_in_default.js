function f(a = (() => { for (;;) return 1 })(), { b = function () { while (1) break } } = {}) {}
