function f() { var a = 1; for (var i of a) { var b = i } return b }
const g = () => { var c; return c }
class K { static { var d = 1 } m() { var e } }
