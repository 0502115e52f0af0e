// A recursive-descent calculator in TypeScript.
type Token =
  | { kind: "number"; value: number }
  | { kind: "op"; value: "+" | "-" | "*" | "/" | "(" | ")" };

class Lexer implements Iterable<Token> {
  private at = 0;
  constructor(private readonly text: string) {}

  *[Symbol.iterator](): Iterator<Token> {
    while (this.at < this.text.length) {
      const char: string = this.text[this.at]!;
      if (/\s/.test(char)) { this.at++; continue; }
      if (/[0-9.]/.test(char)) {
        let raw = "";
        do raw += this.text[this.at++]; while (/[0-9.]/.test(this.text[this.at] ?? ""))
        yield { kind: "number", value: Number(raw) };
        continue;
      }
      this.at++;
      yield { kind: "op", value: char as Extract<Token, { kind: "op" }>["value"] };
    }
  }
}

class Parser {
  private readonly tokens: Token[];
  private index: number = 0;

  constructor(text: string) {
    this.tokens = [...new Lexer(text)];
  }

  private peek(): Token | undefined { return this.tokens[this.index]; }
  private is<K extends Token["value"]>(...values: K[]): boolean {
    const token = this.peek();
    return token?.kind === "op" && (values as unknown[]).includes(token.value);
  }

  sum(): number {
    let left = this.product();
    for (; this.is("+", "-");) {
      const minus = (this.tokens[this.index++] as Token).value === "-";
      const right: number = this.product();
      left = minus ? left - right : left + right;
    }
    return left;
  }

  product(): number {
    let left = this.atom();
    while (this.is("*", "/")) left = this.tokens[this.index++]!.value === "/" ? left / this.atom() : left * this.atom();
    return left;
  }

  atom(): number {
    const token = this.tokens[this.index++];
    if (token === undefined) throw new SyntaxError("unexpected end");
    if (token.kind === "number") return token.value;
    if (token.value === "-") return -this.atom();
    const inner = this.sum();
    if (!this.is(")")) throw new SyntaxError("expected )");
    this.index++;
    return inner;
  }
}

const cases: [text: string, expected: number][] = [["1 + 2 * 3", 7], ["(1 + 2) * 3", 9], ["-(4 - 6) / 2", 1], ["2*.5", 1]];
for (const [text, expected] of cases) {
  const actual = new Parser(text).sum();
  if (actual !== expected) throw new Error(`${text} = ${actual}`);
}
try {
  new Parser("(1").sum();
  return "no error";
} catch (error: unknown) {
  return (error as Error).message === "expected )" ? "ok" : String(error);
}
