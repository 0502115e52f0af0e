//! Random programs of calls in calls: spreads, arrows, methods, templates, `new`, optional calls, comments between.

/// A small generator: the same seed, the same program.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

const HEAD: &str = "const say = (name, ...args) => { log(name, args.length); return args.length + (Number(args.at(-1)) || 0) };\n\
    const f = (...args) => say('f', ...args), g = (...args) => say('g', ...args);\n\
    const o = { m(...args) { return say('m', ...args) }, get n() { log('get'); return this.m }, list: [1, 2], deep: { h: f } };\n\
    class K { constructor(...args) { this.v = say('K', ...args) } valueOf() { return this.v } static s(...args) { return g(...args) } }\n\
    const tag = (texts, ...values) => say('tag', ...values);\n\
    let x = 1, y = 2;\n";

/// The program of a seed.
pub(crate) fn random(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(2_654_435_761).wrapping_add(99));
    let mut source = HEAD.to_owned();
    for _ in 0..4 {
        source.push_str(&format!("log({});\n", expression(&mut dice, 4)));
    }
    source.push_str(&format!("try {{ o.none({}) }} catch (e) {{ log(e.name) }}\n", list(&mut dice, 2)));
    source + "return [x, y]"
}

fn list(dice: &mut Dice, depth: u32) -> String {
    let items: Vec<String> = (0..dice.roll(4))
        .map(|_| match dice.roll(6) {
            0 => format!("...[{}]", expression(dice, depth.saturating_sub(1))),
            _ => expression(dice, depth.saturating_sub(1)),
        })
        .collect();
    let between = [", ", ",", " , ", ", /* c */ ", ",\n  "][dice.roll(5) as usize];
    let tail = if items.is_empty() { "" } else { ["", "", ",", " /* end */", "\n"][dice.roll(5) as usize] };
    items.join(between) + tail
}

fn expression(dice: &mut Dice, depth: u32) -> String {
    if depth == 0 {
        return ["x", "y", "1", "'s'", "o.list.length", "input", "-x", "(y)", "`t${x}`", "null"]
            [dice.roll(10) as usize]
            .to_owned();
    }
    let down = depth - 1;
    match dice.roll(17) {
        0 => format!("f({})", list(dice, down)),
        1 => format!("g({})", list(dice, down)),
        2 => format!("o.m({})", list(dice, down)),
        3 => format!("o.n({})", list(dice, down)),
        4 => format!("o?.m?.({})", list(dice, down)),
        5 => format!("o['m']({})", list(dice, down)),
        6 => format!("+new K({})", list(dice, down)),
        7 => format!("K.s({})", list(dice, down)),
        8 => format!("tag`a${{{}}}b`", expression(dice, down)),
        9 => format!("o.deep.h({})", list(dice, down)),
        10 => {
            format!("((a, b = {}) => f(a, g(b)))({})", expression(dice, down).replace("await ", ""), list(dice, down))
        }
        11 => format!("(x = {})", expression(dice, down)),
        12 => format!("({} ? {} : {})", expression(dice, down), expression(dice, down), expression(dice, down)),
        13 => format!("[{}].map((v) => g(v, f(v))).length", list(dice, down)),
        14 => format!("(await f({}))", list(dice, down)),
        15 => format!("({}, {})", expression(dice, down), expression(dice, down)),
        _ => format!(
            "f(function () {{ return g(arguments.length, f({})) }}({}))",
            expression(dice, down).replace("await ", ""),
            list(dice, down)
        ),
    }
}
