o.let = o.const + o["var"]; ({ class: 1, function: 2 }).class
