try { f() } catch (e: unknown) { g(e as Error) }
try { f() } catch ({ message }: any) { g(message) }
for (const x of y as number[]) z(x!)
for (var i: number = 0; i < 3; i++) ;
do a as T
while (b as U)
if (c) d as E
else f as G
