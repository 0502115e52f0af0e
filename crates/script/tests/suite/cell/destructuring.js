const { a, b: { c = 1, ...rest }, ["k" + 1]: d } = value, [e, , f = 2, ...g] = list;
let { h = () => { while (h) h(); } } = {}
