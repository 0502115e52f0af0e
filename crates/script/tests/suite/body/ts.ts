type Row = { id: number; tags?: string[] }
const rows: Row[] = input.rows
let total = 0
for (const row of rows) total += row.id!
const by = new Map<number, Row>(rows.map((r): [number, Row] => [r.id, r]))
return { total, n: by.size } as const
