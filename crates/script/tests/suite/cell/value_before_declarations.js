f(2)
function f(x) { return x }
class Z {}
;
