//! Programs: random ones that always end, and the corpus of real ones.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::fmt::Write;

/// The programs under `corpus/`, each with its name.
pub(crate) fn corpus() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let path = file.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// A program and the names it declares at its top level.
pub(crate) struct Program {
    /// Its text.
    pub(crate) source: String,
    /// Names to look at afterwards.
    pub(crate) names: Vec<String>,
}

/// The program of a seed. It logs what it does, and every loop in it ends.
pub(crate) fn random(seed: u64, cell: bool) -> Program {
    let mut maker = Maker {
        state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        out: String::new(),
        fresh: 0,
        visible: Vec::new(),
        names: Vec::new(),
        loops: Vec::new(),
        functions: 0,
        cell,
    };
    for _ in 0..3 {
        let name = maker.name();
        let value = maker.below(9);
        maker.line(&format!("let {name} = {value}"));
        maker.names.push(name.clone());
        maker.visible.push(name);
    }
    for _ in 0..maker.below(6) + 4 {
        maker.statement(3, true);
    }
    maker.line("log('end')");
    Program { source: maker.out, names: maker.names }
}

struct Maker {
    state: u64,
    out: String,
    fresh: u32,
    /// Numbers in scope that may be read and written.
    visible: Vec<String>,
    names: Vec<String>,
    /// Open loops: their label, if they have one.
    loops: Vec<Option<String>>,
    functions: u32,
    cell: bool,
}

impl Maker {
    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % limit
    }

    fn name(&mut self) -> String {
        self.fresh += 1;
        format!("v{}", self.fresh)
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        let end = match self.below(3) {
            0 => ";\n",
            1 => "\n",
            _ => "; ",
        };
        self.out.push_str(end);
    }

    fn open(&mut self, text: &str) {
        self.out.push_str(text);
        let brace = if self.below(2) == 0 { " {\n" } else { " { " };
        self.out.push_str(brace);
    }

    fn close(&mut self, text: &str) {
        self.out.push('}');
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn variable(&mut self) -> String {
        let index = self.below(self.visible.len() as u64);
        self.visible[usize::try_from(index).unwrap()].clone()
    }

    fn expression(&mut self, depth: u32) -> String {
        let variable = self.variable();
        match self.below(if depth == 0 { 3 } else { 12 }) {
            0 => self.below(20).to_string(),
            1 | 2 => variable,
            3 => format!("({} + {})", self.expression(depth - 1), self.expression(depth - 1)),
            4 => format!("{} % 7", self.expression(0)),
            5 => format!("({} > {} ? {variable} : {})", self.expression(0), self.expression(0), self.expression(0)),
            6 => format!("(x => x + {})({})", self.expression(0), self.expression(depth - 1)),
            7 => format!("`${{{}}}`.length", self.expression(depth - 1)),
            8 => format!("[{}, {}].length", self.expression(depth - 1), self.expression(0)),
            9 => format!("({{ a: {} }}).a", self.expression(depth - 1)),
            10 => format!("(() => {{ let n = 0; for (const x of [1, 2, {variable}]) n += x % 5; return n }})()"),
            _ => format!("(function* () {{ for (let i = 0; i < 3; i++) yield i + {variable} }})().next().value"),
        }
    }

    fn block(&mut self, depth: u32) {
        let (visible, names) = (self.visible.len(), self.names.len());
        for _ in 0..=self.below(3) {
            self.statement(depth, false);
        }
        self.visible.truncate(visible);
        self.names.truncate(names);
    }

    fn statement(&mut self, depth: u32, top: bool) {
        let variable = self.variable();
        let value = self.expression(2);
        if depth == 0 {
            match self.below(3) {
                0 => self.line(&format!("log('{variable}', {variable})")),
                1 => self.line(&format!("{variable} = {value}")),
                _ => self.line(&format!("{variable} += {value}")),
            }
            return;
        }
        match self.below(17) {
            0 => self.line(&format!("log({value})")),
            1 => self.line(&format!("{variable} = ({value}) % 1000")),
            2 => self.declaration(top, &value),
            3 => {
                self.open(&format!("if ({value} % 2)"));
                self.block(depth - 1);
                if self.below(2) == 0 {
                    self.out.push_str("} else {\n");
                    self.block(depth - 1);
                }
                self.close("");
            }
            4 => {
                self.out.push_str(&format!("if ({value} % 3) log('yes', {variable})"));
                let end = if self.below(2) == 0 { "\nelse log('no')\n" } else { "; else log('no');\n" };
                self.out.push_str(end);
            }
            5..=10 => self.looping(depth),
            11 => {
                self.open("try");
                self.block(depth - 1);
                if self.below(2) == 0 {
                    self.line(&format!("if ({value} % 2) throw {{ message: 'm', n: {variable} }}"));
                }
                let catch = [
                    "} catch (e) { log('caught', e.message);",
                    "} catch {",
                    "} catch ({ message, n = 3 }) { log(message, n);",
                ];
                let index = usize::try_from(self.below(3)).unwrap();
                self.out.push_str(catch[index]);
                self.block(depth - 1);
                if self.below(2) == 0 {
                    self.out.push_str("} finally { log('finally');");
                    self.jump(true);
                }
                self.close("");
            }
            12 => {
                self.out.push_str(&format!("switch ({value} % 3) {{ case 0: log('zero');"));
                self.jump(false);
                self.out.push_str("case 1: { ");
                self.block(depth - 1);
                self.out.push_str(" } break; default: log('many')\n");
                self.close("");
            }
            13 => self.function(depth, top),
            14 => {
                self.open(&format!("log(((n) => {{ const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i + n); return fs.map(f => f()).join() }})({value}));"));
                self.block(depth - 1);
                self.close("");
            }
            15 => self.class(&value),
            _ => self.line(&format!(";[{variable}, {variable}] = [{value}, {variable}]; log({variable})")),
        }
    }

    fn declaration(&mut self, top: bool, value: &str) {
        let name = self.name();
        let persists = match self.below(6) {
            0 => {
                self.line(&format!("const {name} = {value}; log('{name}', {name})"));
                if top {
                    self.names.push(name);
                }
                return;
            }
            1 => {
                self.line(&format!("let {name}\n{name} = {value}"));
                top
            }
            2 => {
                let other = self.name();
                self.line(&format!("let {{ a: {name}, b: [{other} = 5] }} = {{ a: {value}, b: [] }}"));
                if top {
                    self.names.push(other.clone());
                }
                self.visible.push(other);
                top
            }
            3 if self.functions == 0 => {
                // Function-scoped: seen from the outside wherever it stands.
                self.line(&format!("var {name} = {value}"));
                true
            }
            4 => {
                let other = self.name();
                self.line(&format!("let {name} = {value}, {other}\n[{name}] = [4]; log({name}, {other})"));
                top
            }
            _ => {
                self.line(&format!("let {name} = {value}"));
                top
            }
        };
        if persists && top {
            self.names.push(name.clone());
        }
        self.visible.push(name);
    }

    fn looping(&mut self, depth: u32) {
        let turns = self.below(4) + 1;
        let name = self.name();
        let label = (self.below(3) == 0).then(|| format!("l{}", self.fresh));
        if let Some(label) = &label {
            write!(self.out, "{label}: ").unwrap();
        }
        let single = self.below(3) == 0;
        let body = if single { "" } else { " {\n" };
        let kind = self.below(7);
        let visible = self.visible.len();
        match kind {
            0 => write!(self.out, "for (let {name} = 0; {name} < {turns}; {name}++){body}").unwrap(),
            1 => write!(self.out, "for (const {name} of [1, 2, 3].slice(0, {turns})){body}").unwrap(),
            2 => write!(self.out, "for (const {name} in {{ a: 1, b: 2 }}){body}").unwrap(),
            3 => write!(self.out, "for (var {name} = 0, {name}n = {turns}; {name} < {name}n; {name}++){body}").unwrap(),
            4 => write!(self.out, "for await (const {name} of [1, Promise.resolve(2)]){body}").unwrap_or_default(),
            5 => write!(self.out, "for (let {name} = {turns}; {name}-->0;){body}").unwrap(),
            _ => write!(self.out, "do{}", if single { " " } else { " {\n" }).unwrap(),
        }
        if kind == 4 && self.functions > 0 {
            // Only the top level is sure to be async.
            let wrong = self.out.rfind("for await").unwrap();
            self.out.replace_range(wrong..wrong + 9, "for");
        }
        let readable = if kind == 6 { self.visible[0].clone() } else { name.clone() };
        if single {
            let end = if self.below(2) == 0 { ";" } else { "" };
            match self.below(3) {
                0 => writeln!(self.out, " log('turn', {readable}){end}").unwrap(),
                1 => writeln!(self.out, " if ({readable} == 1) log('one'); else log('other'){end}").unwrap(),
                _ => writeln!(self.out, " for (const y of [5, 6]) log(y, {readable}){end}").unwrap(),
            }
        } else {
            self.loops.push(label);
            write!(self.out, "log('in', {readable}); ").unwrap();
            self.block(depth - 1);
            if self.below(2) == 0 {
                write!(self.out, "if ({readable} == 1) ").unwrap();
                self.jump(true);
            }
            self.loops.pop();
            self.out.push('}');
        }
        if kind == 6 {
            self.out.push_str(" while (false)");
        }
        self.out.push('\n');
        self.visible.truncate(visible);
    }

    /// A `break` or `continue` that has a place to go, or nothing.
    fn jump(&mut self, statement: bool) {
        let word = if self.below(2) == 0 { "break" } else { "continue" };
        let index = self.below(self.loops.len() as u64 + 1);
        let target = self.loops.get(usize::try_from(index).unwrap()).cloned();
        match target {
            Some(Some(label)) => self.out.push_str(&format!("{word} {label};\n")),
            Some(None) if index + 1 == self.loops.len() as u64 => self.out.push_str(&format!("{word};\n")),
            _ if statement => self.out.push_str("log('on');\n"),
            _ => {}
        }
    }

    fn function(&mut self, depth: u32, top: bool) {
        let name = format!("f{}", self.name());
        let parameter = self.name();
        let loops = std::mem::take(&mut self.loops);
        let visible = self.visible.len();
        self.visible.push(parameter.clone());
        self.functions += 1;
        match self.below(3) {
            0 => self.open(&format!("function {name}({parameter} = 2)")),
            1 => self.open(&format!("const {name} = ({parameter}) =>")),
            _ => self.open(&format!("let {name} = function ({parameter}, ...rest)")),
        }
        self.block(depth - 1);
        self.out.push_str(&format!("return {parameter}\n"));
        self.functions -= 1;
        self.visible.truncate(visible);
        self.loops = loops;
        self.close("");
        let value = self.expression(1);
        self.line(&format!("log({name}.name, {name}({value}))"));
        if top {
            self.names.push(name);
        }
    }

    fn class(&mut self, value: &str) {
        let name = format!("C{}", self.name());
        self.out.push_str(&format!(
            "class {name} {{ static n = {value}; m() {{ let s = 0; for (const x of [1, 2]) s += x; return s + {name}.n }} get g() {{ let i = 0; while (i < 3) i++; return i }} static {{ for (let i = 0; i < 2; i++) this.n += i }} }}\n"
        ));
        self.line(&format!("log({name}.name, new {name}().m(), new {name}().g)"));
    }
}
