const a = b / c / d, e = /[/]\/(for(;;))/g.test(f)
for (const x of y) z = x / 2
return a++ / 2
