let x = 1
{ let x = 2; x++ }
;((x) => { x = 3 })(0)
x
