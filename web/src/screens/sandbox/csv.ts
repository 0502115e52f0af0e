// CSV as RFC 4180 has it: fields in quotes may hold commas, quotes and line breaks.

export function readCsv(text: string, most: number): string[][] {
    const rows: string[][] = [];
    let row: string[] = [];
    let field = "";
    let quoted = false;
    for (let at = 0; at <= text.length && rows.length < most; at++) {
        const letter = text[at];
        if (quoted && letter !== undefined) {
            if (letter !== '"') field += letter;
            else if (text[at + 1] === '"') [field, at] = [`${field}"`, at + 1];
            else quoted = false;
        } else if (letter === '"' && field === "") quoted = true;
        else if (letter === ",") [row, field] = [[...row, field], ""];
        else if (letter === "\n" || letter === undefined) {
            if (field !== "" || row.length > 0) rows.push([...row, field]);
            [row, field] = [[], ""];
        } else if (letter !== "\r") field += letter;
    }
    return rows;
}
