console.log(new Map<any, any>([['a', 1]]), f<string, number>(x))
a = new Map<string, Set<number>>(b), new Set<Array<Row>>(c)
return new Map<string, Row>(entries)
