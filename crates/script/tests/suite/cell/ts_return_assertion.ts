function f() { return <
  T
>x }
function g() { return x as
 T
}
function h() { throw y as Error
(z)
}
