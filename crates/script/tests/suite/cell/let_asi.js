foo
let [a, b] = pair
let x
[a] = [b]
let y
(a)

