foo
export default class { m() {} }
(1)
