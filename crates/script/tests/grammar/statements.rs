//! Statements: declarations, conditions, loops, jumps, exceptions.

use super::{CLOSE, Jump, OPEN, Writer};

impl Writer {
    pub(super) fn statement(&mut self, depth: u32) {
        self.left = self.left.saturating_sub(1);
        if depth == 0 || self.left == 0 {
            return self.small();
        }
        match self.below(26) {
            0..=3 => self.small(),
            4 | 5 => self.declaration(),
            6 | 7 => self.condition(depth),
            8..=11 => self.looping(depth),
            12 | 13 => self.exception(depth),
            14 => self.switch(depth),
            15 | 16 => self.function(depth),
            17 | 18 => self.class(depth),
            19 => self.labelled(depth),
            20 => self.types_only(),
            21 => {
                self.out.push_str("{ ");
                self.block(depth - 1);
                self.out.push_str("}\n");
            }
            22 => self.jump(),
            23 => self.block_function(),
            24 => self.constant(),
            _ => self.out.push_str(";\n"),
        }
    }

    pub(super) fn block(&mut self, depth: u32) {
        self.scoped(|writer| {
            for _ in 0..=writer.below(3) {
                writer.statement(depth);
            }
        });
    }

    fn small(&mut self) {
        let (name, value) = (self.variable(), self.expression(3));
        let text = match self.below(8) {
            0 | 1 => format!("log('{name}', {value})"),
            2 => format!("{name} = {value}"),
            3 => {
                let sign = self.pick(&["+=", "-=", "*=", "??=", "||=", "&&=", "|=", "^=", "<<=", "%="]);
                format!("{name} {sign} {value}")
            }
            4 => format!("log({})", self.pick(&["++", "--"]).to_owned() + &name),
            5 => {
                let other = self.variable();
                format!(";[{name}, {other} = 4] = [{value}, {name}]")
            }
            6 => format!(";({{ a: {name}, ...{} }} = {{ a: {value}, b: 1 }});", self.variable()),
            _ => value,
        };
        // An object, a function or a class at the beginning of a statement would be something else.
        let text = if text.starts_with(['{', 'f', 'c', 'a', '/']) && !text.starts_with("for") {
            format!("({text})")
        } else {
            text
        };
        let text = if text.starts_with(['(', '[', '`', '+', '-', '/']) { format!(";{text}") } else { text };
        self.out.push_str(&text);
        self.end();
    }

    fn declaration(&mut self) {
        let (name, value, note) = (self.name("d"), self.expression(3), self.annotation());
        let word = self.pick(&["let", "let", "var"]);
        let text = match self.below(6) {
            0 => format!("{word} {{ a: {name} = 5, ...r{name} }}{note} = {{ a: {value}, z: 1 }}; log(r{name})"),
            1 => format!(
                "{word} [{name}, [i{name} = 2] = [], ...t{name}]{note} = [{value}, , 3, 4]; log(i{name}, t{name})"
            ),
            2 => format!("{word} {name}{note}\n{name} = {value}"),
            3 => format!("{word} {name}{note} = {value}, o{name} = {name}; log(o{name})"),
            4 => format!("{word} {{ ['a' + 1]: {name} = {value}, length: l{name} = 7 }}{note} = 'abc'; log({name})"),
            _ => format!("{word} {name}{note} = {value}"),
        };
        self.out.push_str(&text);
        self.end();
        self.scope.push(name);
    }

    fn constant(&mut self) {
        let (name, value, note) = (self.name("c"), self.expression(2), self.annotation());
        self.out.push_str(&format!(
            "const {name}{note} = {value}; try {{ {name} = 1; log('set') }} catch (e) {{ log(e.name, {name}) }}\n"
        ));
    }

    fn condition(&mut self, depth: u32) {
        let test = self.expression(2);
        self.out.push_str(&format!("if ({test}) "));
        self.branch(depth);
        if self.chance(2) {
            self.out.push_str("else ");
            self.branch(depth);
        }
    }

    /// A block, or one statement that needs none.
    fn branch(&mut self, depth: u32) {
        if self.chance(3) {
            let value = self.expression(2);
            let end = self.pick(&[";\n", "\n", "; "]);
            self.out.push_str(&format!("log({value}){end}"));
        } else {
            self.out.push_str("{ ");
            self.block(depth - 1);
            self.out.push_str("}\n");
        }
    }

    fn looping(&mut self, depth: u32) {
        let (name, turns) = (self.name("i"), self.below(4));
        let label = self.chance(3).then(|| self.name("L"));
        let kind = self.below(if self.place.is_async { 10 } else { 8 });
        if matches!(kind, 4 | 5) {
            self.out.push_str(&format!("let {name} = 0; "));
        }
        if let Some(label) = &label {
            self.out.push_str(&format!("{label}: "));
        }
        let value = self.expression(1);
        let word = self.pick(&["let", "const", "var"]);
        let counter = if word == "const" { "let" } else { word };
        let (head, tail) = match kind {
            0 => (format!("for ({counter} {name} = 0; {name} < {turns}; {name}++)"), String::new()),
            1 => (format!("for ({word} {name} of [1, 2, {value}].slice(0, {turns}))"), String::new()),
            2 => (format!("for ({word} {name} in {{ a: 1, b: {value}, 3: 4 }})"), String::new()),
            3 => (format!("for ({word} [{name}, x{name} = 3] of [[1], [2, {value}]])"), String::new()),
            4 => (format!("while ({name}++ < {turns})"), String::new()),
            5 => ("do".to_owned(), format!(" while (++{name} < {turns}){}", self.pick(&["", ";", "\n"]))),
            6 => (
                format!("for (let {name} = {turns}, k{name} = () => {name}; {name}-->0; log(k{name}()))"),
                String::new(),
            ),
            7 => (format!("for ({word} {{ a: {name} = {value} }} of [{{ a: 1 }}, {{}}])"), String::new()),
            8 => (format!("for await ({word} {name} of [1, Promise.resolve({value})])"), String::new()),
            _ => (
                format!("for await ({word} {name} of (async function* () {{ yield 1; yield {value} }})())"),
                String::new(),
            ),
        };
        self.out.push_str(&head);
        self.scoped(|writer| {
            if writer.chance(4) {
                let text = writer.pick(&[" log('turn');", " log(1), log(2);", " if (true) log(3); else log(4);", " ;"]);
                writer.out.push_str(text);
            } else {
                writer.jumps.push(Jump { label, is_loop: true, takes_break: true });
                writer.out.push_str(&format!(" {{ log('in', {name}); "));
                if word != "const" {
                    writer.scope.push(name.clone());
                    // A loop whose counter the body sets would not end.
                    writer.scope.pop();
                }
                if writer.chance(3) {
                    let keep = writer.name("k");
                    writer
                        .out
                        .push_str(&format!("const {keep} = () => {name}; setTimeout(() => {keep}()); log({keep}()); "));
                }
                writer.block(depth - 1);
                writer.jump_if(&name);
                writer.out.push('}');
                writer.jumps.pop();
            }
        });
        self.out.push_str(&tail);
        self.out.push('\n');
    }

    fn jump_if(&mut self, name: &str) {
        if self.chance(2) {
            let jump = self.jump_text();
            self.out.push_str(&format!("if ({name} == 1) {jump}"));
        }
    }

    fn jump(&mut self) {
        let (test, jump) = (self.expression(1), self.jump_text());
        self.out.push_str(&format!("if ({test}) {jump}"));
    }

    /// A `break`, `continue`, `return`, `throw` or `yield` that has a place to go.
    fn jump_text(&mut self) -> String {
        let value = self.expression(1);
        if self.place.is_generator && self.chance(2) {
            return format!("yield {value};\n");
        }
        if self.place.in_function && self.chance(3) {
            return format!("return {value};\n");
        }
        let index = self.below(self.jumps.len() as u64 + 1);
        let last = self.jumps.iter().rposition(|jump| jump.takes_break);
        match self.jumps.get(usize::try_from(index).unwrap()).cloned() {
            Some(Jump { label: Some(label), is_loop, .. }) => {
                let word = if is_loop && self.chance(2) { "continue" } else { "break" };
                format!("{word} {label};\n")
            }
            Some(Jump { label: None, is_loop, .. }) if Some(usize::try_from(index).unwrap()) == last => {
                let word = if is_loop && self.chance(2) { "continue" } else { "break" };
                format!("{word}\n")
            }
            _ => format!("log('on', {value});\n"),
        }
    }

    fn exception(&mut self, depth: u32) {
        let (value, thrown) = (self.expression(2), self.expression(1));
        let start = self.out.len();
        self.out.push_str("try { ");
        self.block(depth - 1);
        if self.chance(2) {
            let what =
                self.pick(&["new Error('m')", "{ message: 'o', n: T }", "T", "[T, 2]", "null"]).replace('T', &thrown);
            self.out.push_str(&format!("if ({value}) throw {what}; "));
        }
        let caught = self.below(5);
        if caught > 0 {
            let note = self.types(&[": unknown", ": any"]);
            let head = match caught {
                1 => "} catch {".to_owned(),
                2 => format!("}} catch (e{note}) {{ log('caught', e?.name ?? e?.message ?? e); "),
                3 => "} catch ({ message, n = 3 }) { log(typeof message, n); "
                    .replace("({", if self.chance(2) { "({" } else { "( {" }),
                _ => "} catch ([a, b = 2]) { log(a, b); ".to_owned(),
            };
            // What cannot be taken apart throws again.
            let safe = matches!(caught, 1 | 2);
            if !safe {
                self.out.insert_str(start, "try { ");
            }
            self.out.push_str(&head);
            self.block(depth - 1);
            if !safe {
                self.out.push_str("} } catch (e) { log(typeof e); ");
            }
        }
        if caught == 0 || self.chance(2) {
            self.out.push_str("} finally { log('finally'); ");
            self.block(depth.saturating_sub(2));
            if self.chance(2) {
                let jump = self.jump_text();
                self.out.push_str(&jump);
            }
        }
        self.out.push_str("}\n");
    }

    fn switch(&mut self, depth: u32) {
        let value = self.expression(2);
        let label = self.chance(4).then(|| self.name("S"));
        if let Some(label) = &label {
            self.out.push_str(&format!("{label}: "));
        }
        self.out.push_str(&format!("switch (Number({value}) % 3) {{ "));
        self.jumps.push(Jump { label, is_loop: false, takes_break: true });
        self.scoped(|writer| {
            for case in ["case 0:", "default:", "case 1: case -1:", "case `x`.length + 1: {"] {
                writer.out.push_str(&format!("{case} log('{}'); ", case.replace('`', "")));
                writer.scoped(|writer| {
                    // A declaration in one case is not set in another.
                    writer.out.push_str("{ ");
                    writer.statement(depth - 1);
                    writer.out.push_str("} ");
                });
                if writer.chance(2) {
                    let jump = writer.jump_text();
                    writer.out.push_str(&jump);
                }
                if case.ends_with('{') {
                    writer.out.push_str("} ");
                }
            }
        });
        self.jumps.pop();
        self.out.push_str("}\n");
    }

    fn labelled(&mut self, depth: u32) {
        let label = self.name("B");
        self.out.push_str(&format!("{label}: {{ "));
        self.jumps.push(Jump { label: Some(label.clone()), is_loop: false, takes_break: false });
        self.block(depth - 1);
        let test = self.expression(1);
        self.out.push_str(&format!("if ({test}) break {label}; "));
        self.block(depth - 1);
        self.jumps.pop();
        self.out.push_str("}\n");
    }

    /// Declarations that are nothing at run time.
    fn types_only(&mut self) {
        if !self.typed {
            return self.small();
        }
        let name = self.name("T");
        let text = self.pick(&[
            "interface N<T = any> extends Object { a: number; b?(x: T): void; [k: string]: any; readonly c: N<string> }\n",
            "type N<A, B extends keyof A = keyof A> = { [K in B]?: A[K] } | (A extends (infer U)[] ? U : never);\n",
            "type N = 'a' | `b${number}` | -1\n",
            "declare const N: { (a: number): string; new (): any }; ",
            "declare function N(a?: string): asserts a is string\n",
        ]);
        self.out.push_str(&format!("{OPEN}{}{CLOSE};", text.replace('N', &name)));
    }

    /// A function in a block, used in the block.
    fn block_function(&mut self) {
        let (name, value) = (self.name("b"), self.plain(1));
        self.out.push_str(&format!("{{ log({name}(1)); function {name}(x) {{ return [x, {value}] }} }}\n"));
    }
}
