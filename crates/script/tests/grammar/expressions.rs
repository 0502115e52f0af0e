//! Expressions.

use super::{CLOSE, OPEN, Place, Writer};

impl Writer {
    fn atom(&mut self) -> String {
        let name = self.variable();
        match self.below(14) {
            0..=4 => name,
            5 => self.below(30).to_string(),
            6 => {
                self.pick(&["'s'", "\"d\\n\"", "'</script>'", "'a-->b<!--c'", "`t\\u0041`", "'\\u{1F600}'"]).to_owned()
            }
            7 => self
                .pick(&["null", "undefined", "true", "false", "NaN", "-1", "1.5e3", "0x1f", "1_000", ".5"])
                .to_owned(),
            8 => "/a[/]b/gi.test('a/b')".to_owned(),
            9 => "[]".to_owned(),
            10 => format!("{name}++"),
            11 => format!("--{name}"),
            12 => "input".to_owned(),
            _ => format!("-{name}"),
        }
    }

    /// An expression that may stand in any function.
    pub(super) fn plain(&mut self, depth: u32) -> String {
        let outer = std::mem::replace(&mut self.place, Place { in_function: true, ..Place::default() });
        let text = self.expression(depth);
        self.place = outer;
        text
    }

    pub(super) fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.atom();
        }
        let down = depth - 1;
        let form = self.below(34);
        // What stands inside of a function of its own awaits and yields nothing.
        let a = if matches!(form, 18 | 19 | 31) { self.plain(down) } else { self.expression(down) };
        let name = self.variable();
        match form {
            0 | 1 => a,
            2 | 3 => {
                let sign = self
                    .pick(&["+", "-", "*", "%", "<", ">", "<=", "===", "!=", "&", "|", "^", ">>", ">>>", "&&", "||"]);
                format!("({a} {sign} {})", self.expression(down))
            }
            4 => format!("(({a}) ?? {})", self.expression(0)),
            5 => format!("({a} ? {} : {})", self.expression(down), self.expression(0)),
            6 => format!("({a}, {})", self.expression(down)),
            7 => format!("{} ({a})", self.pick(&["typeof", "void", "!", "+", "~"])),
            8 => format!("`x${{{a}}}y${{`${{{name}}}`}}`"),
            9 => format!("[{a}, ...[{name}, 2], , 3].length"),
            10 => format!(
                "({{ a: {a}, {name}, ['k' + 1]: 2, get g() {{ return {name} }}, m(x) {{ return x }}, ...{{ z: 1 }} }}){}",
                self.pick(&[".a", ".g", ".k1", "?.m?.(4)", "?.['a']", ".q?.b.c.d", ".q?.[1]"])
            ),
            11 => self.arrow(&a, down),
            12 => format!("(function (q{}) {{ return [q, arguments.length] }})({a}, ...[1, 2])", self.annotation()),
            13 => self.call(&a),
            14 => format!("[{a}, 1].map((n{}, i) => n + i).filter(Boolean).length", self.annotation()),
            15 => format!("((s, ...v) => s.raw.join('|') + v.length)`a${{{a}}}\\n${{{name}}}`"),
            16 => format!("({name} = {a})"),
            17 => format!("({name} {} {a})", self.pick(&["+=", "??=", "||=", "&&=", "-="])),
            18 => format!("new (class {{ v = {a}; constructor(x) {{ this.x = x }} }})({name}).v"),
            19 => format!("[...(function* () {{ const r = yield {a}; return r }})()].length"),
            20 => format!("(([p, {{ q = {name} }} = {{}}]) => [p, q])([{a}])"),
            21 => format!("({{ k: {a} }}).k"),
            22 => format!("'k' in {{ k: {a} }}"),
            23 => format!("[{a}] instanceof Array"),
            24 => format!("delete ({{ d: {a} }}).d"),
            25 if self.typed => {
                let kind = self.pick(&[
                    " as any",
                    " as unknown as number",
                    " satisfies any",
                    " as const extends never ? any : any",
                ]);
                let kind = if kind.contains("extends") { " as (typeof Math extends any ? any : never)" } else { kind };
                format!("({a}{OPEN}{kind}{CLOSE})")
            }
            26 if self.typed => format!("({a}){OPEN}!{CLOSE}"),
            27 if self.typed => format!("((x{OPEN}: any{CLOSE}){OPEN}: any{CLOSE} => x)({a})"),
            28 if self.place.is_async => format!("(await ({a}))"),
            29 if self.place.is_generator => format!("(yield {a})"),
            30 if self.place.in_method => format!("[this.v, {a}]"),
            31 => format!("((x) => {{ try {{ return x.a.b }} catch {{ return {a} }} }})({name})"),
            32 => format!("({a})?.toString?.()"),
            33 => format!("(({name}) ** 2)"),
            _ => format!("({a})"),
        }
    }

    fn arrow(&mut self, a: &str, depth: u32) -> String {
        let (first, note) = (self.name("x"), self.annotation());
        let generic = if self.typed && self.chance(3) { format!("{OPEN}<T,>{CLOSE}") } else { String::new() };
        let body = self.text(|writer| {
            writer.inside(Place { in_function: true, ..Place::default() }, |writer| {
                writer.scope.push(first.clone());
                let value = writer.expression(depth);
                if writer.chance(2) {
                    writer.out.push_str(&format!("({{ r: {value} }})"));
                } else {
                    writer.out.push_str(&format!(
                        "{{ for (const y of [1, 2]) {{ if (y === 2) break; {first} += y }} return {value} }}"
                    ));
                }
            });
        });
        format!("({generic}({first}{note}) => {body})({a})")
    }

    fn call(&mut self, a: &str) -> String {
        if self.callable.is_empty() {
            return format!("Math.max({a}, ...[1, 2])");
        }
        let index = self.below(self.callable.len() as u64);
        let callee = self.callable[usize::try_from(index).unwrap()].clone();
        let generic = if self.typed && self.chance(3) { format!("{OPEN}<any>{CLOSE}") } else { String::new() };
        format!("{callee}{generic}({a})")
    }
}
