//! Random programs over the whole grammar. Each logs what it does, and every loop in it ends.
//!
//! A program is written once and read twice: with its types, as TypeScript, and without them, as the JavaScript that another
//! engine runs. Types stand between two marks that no program has.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::ops::Range;
use std::time::{Instant, UNIX_EPOCH};

mod classes;
mod expressions;
mod functions;
mod statements;

/// The marks around a type.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

/// A program in both readings.
pub(crate) struct Pair {
    /// What is prepared.
    pub(crate) typed: String,
    /// What it must mean.
    pub(crate) plain: String,
}

/// Checks programs: always the same ones, or for `COVE_FUZZ_SECONDS` such as nobody has tried (`scripts/fuzz meaning`).
pub(crate) fn for_seeds(usual: Range<u64>, check: impl Fn(Range<u64>)) {
    let seconds = std::env::var("COVE_FUZZ_SECONDS").ok().and_then(|value| value.parse().ok());
    let Some(seconds) = seconds else { return check(usual) };
    let (begin, count) = (Instant::now(), usual.end - usual.start);
    let mut first = UNIX_EPOCH.elapsed().unwrap().as_secs() << 20;
    while begin.elapsed().as_secs() < seconds {
        check(first..first + count);
        first += count;
        eprintln!("seeds up to {first}: the same");
    }
}

/// The program of a seed. `sloppy`: with names that are never declared.
pub(crate) fn random(seed: u64, sloppy: bool) -> Pair {
    let mut writer = Writer {
        state: (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03) | 1,
        out: String::new(),
        fresh: 0,
        scope: Vec::new(),
        callable: Vec::new(),
        jumps: Vec::new(),
        place: Place { is_async: true, ..Place::default() },
        typed: seed.is_multiple_of(3),
        left: 90,
    };
    for _ in 0..3 {
        let name = writer.name("v");
        let value = writer.below(9);
        writer.out.push_str(&format!("let {name} = {value};\n"));
        writer.scope.push(name);
    }
    if sloppy {
        for _ in 0..2 {
            let name = writer.name("g");
            let value = writer.expression(2);
            let how = writer.pick(&[
                "N = V;",
                "for (N of [1, 2]) log(N);",
                "[N] = [V];",
                "({ a: N = 3 } = { a: V });",
                "for (N in { k: 1 }) ; N = V;",
            ]);
            writer.out.push_str(&(how.replace('N', &name).replace('V', &value) + "\n"));
            writer.scope.push(name);
        }
    }
    for _ in 0..writer.below(5) + 4 {
        writer.statement(4);
    }
    let names = writer.scope.join(", ");
    writer.out.push_str(&format!("log('end', {names});\nreturn [{names}]"));
    Pair { typed: read(&writer.out, true), plain: read(&writer.out, false) }
}

fn read(text: &str, with_types: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_u32;
    for char in text.chars() {
        match char {
            OPEN => depth += 1,
            CLOSE => depth -= 1,
            _ if depth == 0 || with_types => out.push(char),
            _ => {}
        }
    }
    out
}

/// What may be written where the writer is now.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    is_async: bool,
    is_generator: bool,
    /// Inside a function of the program's own.
    in_function: bool,
    /// Inside a method, where `this` and `super` are.
    in_method: bool,
}

/// A statement that `break` or `continue` may name.
#[derive(Debug, Clone)]
struct Jump {
    label: Option<String>,
    /// `continue` may name it.
    is_loop: bool,
    /// A plain `break` means it.
    takes_break: bool,
}

struct Writer {
    state: u64,
    out: String,
    fresh: u32,
    /// Numbers that may be read and written.
    scope: Vec<String>,
    /// Functions of one argument that give a value at once.
    callable: Vec<String>,
    jumps: Vec<Jump>,
    place: Place,
    typed: bool,
    /// How many statements may still be written.
    left: u32,
}

impl Writer {
    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % limit
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).unwrap()]
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn variable(&mut self) -> String {
        let index = self.below(self.scope.len() as u64);
        self.scope[usize::try_from(index).unwrap()].clone()
    }

    /// A type, where this program has types.
    fn types(&mut self, from: &[&str]) -> String {
        if self.typed && self.chance(2) { format!("{OPEN}{}{CLOSE}", self.pick(from)) } else { String::new() }
    }

    fn annotation(&mut self) -> String {
        self.types(&[
            ": number",
            ": any",
            ": number | undefined",
            ": Array<number> | any",
            ": { a: any, b?: [x: number, ...rest: any[]] } | any",
            ": (typeof globalThis)['Math'] | any",
            ": ((a: number, b?: string) => void) | any",
            ": `t${string}` | any",
            " : any /* > { */",
        ])
    }

    /// The end of a statement: a semicolon, or a line that ends it.
    fn end(&mut self) {
        let end = self.pick(&[";\n", "\n", "; ", ";\n", " // end\n", "; /* more */ "]);
        self.out.push_str(end);
    }

    /// Writes inside a scope of its own.
    fn scoped(&mut self, write: impl FnOnce(&mut Self)) {
        let (scope, callable) = (self.scope.clone(), self.callable.clone());
        write(self);
        (self.scope, self.callable) = (scope, callable);
    }

    /// Writes the inside of a function.
    fn inside(&mut self, place: Place, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.place, place);
        let jumps = std::mem::take(&mut self.jumps);
        self.scoped(write);
        self.jumps = jumps;
        self.place = outer;
    }

    /// What a piece of text would be, taken out again.
    fn text(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let start = self.out.len();
        write(self);
        self.out.split_off(start)
    }
}
