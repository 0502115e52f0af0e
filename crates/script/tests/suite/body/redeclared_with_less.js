let total = 0; for (let i = 0; i < 3; i++) total += i;
let total = 5; return total
