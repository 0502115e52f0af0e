//! Functions of every kind, and what is done with them.

use super::{Place, Writer};

impl Writer {
    /// Parameters; the first is a number.
    pub(super) fn parameters(&mut self, first: &str) -> String {
        let (value, note) = (self.expression(0), self.annotation());
        match self.below(6) {
            0 => format!("{first}{note} = {value}"),
            1 => format!("{first}{note}, ...rest{}", self.types(&[": any[]", ": unknown[]"])),
            2 => format!("{first}{}", self.types(&["?: number", "?: any"])),
            3 => format!("{first}{note}, {{ a = {first}, ...more }}{} = {{}}", self.types(&[": any", ": { a?: any }"])),
            4 => format!("{first}{note}, [b = 2, , c]{} = [1, 2, 3],", self.types(&[": any[]"])),
            _ => format!("{first}{note}"),
        }
    }

    pub(super) fn function(&mut self, depth: u32) {
        let (name, first, value) = (self.name("f"), self.name("p"), self.expression(1));
        let parameters = self.parameters(&first);
        let generic = self.types(&["<T>", "<T, U extends T = T>", "<const T extends readonly unknown[]>"]);
        let gives = self.types(&[": any", ": unknown", ": ReturnType<any>"]);
        let kind = self.below(8);
        let is_async = matches!(kind, 2 | 4 | 5 | 7);
        let is_generator = matches!(kind, 3 | 4);
        let head = match kind {
            0 | 1 => format!("function {name}{generic}({parameters}){gives}"),
            2 => format!("async function {name}({parameters})"),
            3 => format!("function* {name}({parameters})"),
            4 => format!("async function* {name}({parameters})"),
            5 => format!("const {name} = async ({parameters}) =>"),
            6 => format!("const {name} = ({parameters}){gives} =>"),
            _ => format!("const {name} = async function inner({parameters})"),
        };
        if generic.is_empty() && kind == 0 && self.typed {
            let overload = format!("{}function {name}(a: string): any;\n{}", super::OPEN, super::CLOSE);
            self.out.push_str(&overload);
        }
        self.out.push_str(&head);
        self.out.push_str(" { ");
        self.inside(Place { is_async, is_generator, in_function: true, in_method: false }, |writer| {
            writer.scope.push(first.clone());
            if kind < 2 && writer.chance(3) {
                writer.out.push_str("log(arguments.length, new.target === undefined); ");
            }
            if is_generator {
                let given = writer.expression(1);
                writer.out.push_str(&format!("log(yield {given}); "));
                if writer.chance(2) {
                    let list = writer.expression(0);
                    writer.out.push_str(&format!("yield* [{list}, 2]; "));
                }
            }
            if is_async && writer.chance(2) {
                let given = writer.expression(1);
                writer.out.push_str(&format!("log(await {given}); "));
            }
            writer.block(depth - 1);
            let result = writer.expression(2);
            writer.out.push_str(&format!("return {result}\n"));
        });
        self.out.push_str("}\n");
        let caught = "catch (e) { log('failed', e?.name ?? e) }";
        let text = match (is_generator, is_async && self.place.is_async) {
            (true, false) if !is_async => format!(
                "try {{ const it = {name}({value}); log(it.next(), it.next('sent')); for (const x of it) log(x); log(it.return(9)) }} {caught}"
            ),
            (true, true) => {
                format!("try {{ for await (const x of {name}({value})) {{ log(x); if (x === 2) break }} }} {caught}")
            }
            (false, true) => {
                format!("try {{ log(await {name}({value}), (await Promise.all([{name}(1), 5])).length) }} {caught}")
            }
            (false, false) if !is_async => {
                self.callable.push(name.clone());
                format!("try {{ log({name}({value}), {name}.name, {name}.length) }} {caught}")
            }
            _ => format!("log(typeof {name})"),
        };
        self.out.push_str(&text);
        self.out.push('\n');
    }
}
