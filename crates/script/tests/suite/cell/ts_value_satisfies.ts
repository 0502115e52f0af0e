({ a: 1 }) satisfies T;
