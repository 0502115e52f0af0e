const { a = outer } = thing
function f(p, q = p + late) { return typeof maybe + p + inner }
var late
class K extends Parent { [key] = value }
label: for (x.y of z) f`${t}`
return { short, name: given, [computed]: 1 }.name
