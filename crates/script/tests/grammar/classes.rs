//! Classes with everything in them.

use super::{Place, Writer};

impl Writer {
    pub(super) fn class(&mut self, depth: u32) {
        let (name, base) = (self.name("C"), self.name("D"));
        let modifier =
            |writer: &mut Self| writer.types(&["public ", "private ", "protected ", "readonly ", "public readonly "]);
        let [value, other, start] = [self.plain(1), self.plain(1), self.plain(0)];
        let method = Place { in_function: true, in_method: true, ..Place::default() };
        let body = self.text(|writer| {
            writer.inside(method, |writer| {
                writer.scope.truncate(3);
                writer.block(depth - 1);
                let result = writer.expression(2);
                writer.out.push_str(&format!("return [{result}, this.#p]\n"));
            });
        });
        let is_abstract = self.types(&["abstract "]);
        let (note, gives) = (self.annotation(), self.types(&[": any", ": void | any"]));
        let m = [modifier(self), modifier(self), modifier(self)];
        let extends = self.chance(2);
        let heritage = if extends { format!(" extends {base}") } else { String::new() };
        let implements = self.types(&[" implements Iterable<any>", " implements A, B<C>"]);
        let call_super = if extends { "super(1);" } else { "" };
        self.out.push_str(&format!(
            "{is_abstract}class {base} {{ {}s{note} = {start}; constructor(x{note} = 2) {{ this.s = x }} who(){gives} {{ return 'base' + this.s }} get [Symbol.toStringTag]() {{ return 'tag' }} }}\n",
            m[0]
        ));
        let name_of = if self.chance(3) { format!("const {name} = class ") } else { format!("class {name}") };
        let members = [
            format!("{}#p{note} = {value}", self.types(&["readonly "])),
            format!("static count{} = 0", self.types(&[": number"])),
            format!("{}plain = (x{note}) => [x, this.#p]", m[2]),
            "static #s = 3; static readS() { return this.#s }".to_owned(),
            "static { for (let i = 0; i < 2; i++) { if (i) continue; this.count += this.#s } }".to_owned(),
            format!("get v(){gives} {{ return this.#p }} set v(x{note}) {{ this.#p = x }}"),
            format!("['m' + 1](a{note} = {other}){gives} {{ {body} }}"),
            "*[Symbol.iterator]() { yield this.#p; yield* [1, 2] }".to_owned(),
            format!("async am(a{note}) {{ try {{ return await a }} finally {{ log('am') }} }}"),
            format!("#hidden(x{note}) {{ return [x, #p in this] }} open(x{note}) {{ return this.#hidden?.(x) }}"),
            "static is(o) { return #p in o } 'quoted key'() { return 1 } 12() { return 2 }".to_owned(),
        ];
        self.out.push_str(&format!("{name_of}{heritage}{implements} {{ "));
        for member in &members {
            self.out.push_str(member);
            // A field needs its end; a method does not mind one.
            let end = self.pick(&["; ", ";\n"]);
            self.out.push_str(end);
        }
        self.out
            .push_str(&format!("constructor(a{note}) {{ {call_super} {name}.count++; log(new.target === {name}, a); "));
        if extends {
            self.out.push_str("log(super.who(), (() => super.who())()); ");
        }
        self.out.push_str("}\n}\n");
        let object = self.name("o");
        let awaited = if self.place.is_async { format!("log(await {object}.am(4)); ") } else { String::new() };
        self.out.push_str(&format!(
            "try {{ const {object} = new {name}({start}); log({object}.v, {object}.plain(1), {object}.m1(), [...{object}], {name}.count, {object}.open(2), {name}.is({object}), {name}.is({{}}), {name}.name, {name}.readS()); {object}.v = 7; {object}.v++; log({object}.v, {object}['quoted key'](), {object}[12]()); {awaited}}} catch (e) {{ log('class', e?.name ?? e) }}\n"
        ));
    }
}
