declare const a: number
declare function f(): void
declare class K { x: number }
declare module "m" { export const x: 1 }
declare global { interface Window { a: 1 } }
declare enum E { A }
declare namespace N { const x: number }
a
