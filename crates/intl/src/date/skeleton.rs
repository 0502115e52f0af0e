//! Skeletons of dates (UTS #35): which fields, each how wide, and how far two of them are from each other.

/// One piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Text(String),
    Field(char, usize),
}

/// Takes a pattern apart.
pub(crate) fn items(pattern: &str) -> Vec<Item> {
    let mut made: Vec<Item> = Vec::new();
    let mut quoted = false;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            if chars.peek() == Some(&'\'') {
                chars.next();
                add_text(&mut made, '\'');
            } else {
                quoted = !quoted;
            }
        } else if !quoted && c.is_ascii_alphabetic() {
            match made.last_mut() {
                Some(Item::Field(letter, count)) if *letter == c => *count += 1,
                _ => made.push(Item::Field(c, 1)),
            }
        } else {
            add_text(&mut made, c);
        }
    }
    made
}

fn add_text(made: &mut Vec<Item>, c: char) {
    match made.last_mut() {
        Some(Item::Text(text)) => text.push(c),
        _ => made.push(Item::Text(c.to_string())),
    }
}

/// The pattern that stands for the items.
pub(crate) fn pattern(items: &[Item]) -> String {
    let mut made = String::new();
    for item in items {
        match item {
            Item::Field(letter, count) => made.extend(std::iter::repeat_n(*letter, *count)),
            Item::Text(text) if text.contains(|c: char| c.is_ascii_alphabetic() || c == '\'') => {
                made.push('\'');
                made += &text.replace('\'', "''");
                made.push('\'');
            }
            Item::Text(text) => made += text,
        }
    }
    made
}

pub(crate) const FIELDS: usize = 16;
pub(crate) const YEAR: usize = 1;
pub(crate) const MONTH: usize = 3;
pub(crate) const WEEKDAY: usize = 6;
pub(crate) const DAY_PERIOD: usize = 10;
pub(crate) const HOUR: usize = 11;
pub(crate) const MINUTE: usize = 12;
pub(crate) const SECOND: usize = 13;
pub(crate) const FRACTION: usize = 14;

const NARROW: i32 = -0x101;
const SHORTER: i32 = -0x102;
const SHORT: i32 = -0x103;
const LONG: i32 = -0x104;
const NUMERIC: i32 = 0x100;
const DELTA: i32 = 0x10;

/// The field of a letter, its kind (numbers are positive), and the least count of letters of that kind.
pub(crate) fn classify(letter: char, count: usize) -> Option<(usize, i32, usize)> {
    let words = |field: usize, delta: i32| {
        let (kind, least) = match count {
            0..=3 => (SHORT, 1),
            4 => (LONG, 4),
            5 => (NARROW, 5),
            _ => (SHORTER, 6),
        };
        Some((field, kind + delta, least))
    };
    let mixed = |field: usize, numeric: i32, delta: i32| match count {
        0..=2 => Some((field, NUMERIC + numeric, 1)),
        3 => Some((field, SHORT + delta, 3)),
        4 => Some((field, LONG + delta, 4)),
        5 => Some((field, NARROW + delta, 5)),
        _ => Some((field, SHORTER + delta, 6)),
    };
    let number = |field: usize, delta: i32| Some((field, NUMERIC + delta, 1));
    match letter {
        'G' => words(0, 0),
        'y' => number(YEAR, 0),
        'Y' => number(YEAR, DELTA),
        'u' => number(YEAR, 2 * DELTA),
        'r' => number(YEAR, 3 * DELTA),
        'U' => words(YEAR, 0),
        'Q' => mixed(2, 0, 0),
        'q' => mixed(2, DELTA, -DELTA),
        'M' => mixed(MONTH, 0, 0),
        'L' => mixed(MONTH, DELTA, -DELTA),
        'w' => number(4, 0),
        'W' => number(5, 0),
        'E' => words(WEEKDAY, 0),
        'c' => mixed(WEEKDAY, 2 * DELTA, -2 * DELTA),
        'e' => mixed(WEEKDAY, DELTA, -DELTA),
        'D' => number(7, 0),
        'F' => number(8, 0),
        'd' => number(9, 0),
        'a' => words(DAY_PERIOD, 0),
        'b' => words(DAY_PERIOD, -DELTA),
        'B' => words(DAY_PERIOD, -3 * DELTA),
        'H' => number(HOUR, 10 * DELTA),
        'k' => number(HOUR, 11 * DELTA),
        'h' => number(HOUR, 0),
        'K' => number(HOUR, DELTA),
        'm' => number(MINUTE, 0),
        's' => number(SECOND, 0),
        'S' => number(FRACTION, 0),
        'v' => Some((15, if count < 4 { SHORT } else { LONG } - 2 * DELTA, if count < 4 { 1 } else { 4 })),
        'z' => Some((15, if count < 4 { SHORT } else { LONG }, if count < 4 { 1 } else { 4 })),
        'O' => Some((15, if count < 4 { SHORT } else { LONG } - DELTA, if count < 4 { 1 } else { 4 })),
        'Z' | 'X' | 'x' | 'V' => Some((15, NARROW - DELTA, 1)),
        _ => None,
    }
}

/// Which fields a date has, and in which form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Skeleton {
    /// Zero where there is none.
    pub(crate) kinds: [i32; FIELDS],
    pub(crate) letters: [(char, usize); FIELDS],
    /// As few letters as the kind allows.
    base: [(char, usize); FIELDS],
}

impl Skeleton {
    pub(crate) fn of(pattern: &str) -> Self {
        let mut made = Self::default();
        for item in items(pattern) {
            if let Item::Field(letter, count) = item {
                made.put(letter, count);
            }
        }
        if made.kinds[MINUTE] != 0 && made.kinds[FRACTION] != 0 && made.kinds[SECOND] == 0 {
            made.put('s', 1);
        }
        match made.letters[HOUR].0 {
            'h' | 'K' if made.kinds[DAY_PERIOD] == 0 => made.put('a', 1),
            'H' | 'k' => {
                made.kinds[DAY_PERIOD] = 0;
                made.letters[DAY_PERIOD] = Default::default();
                made.base[DAY_PERIOD] = Default::default();
            }
            _ => {}
        }
        made
    }

    fn put(&mut self, letter: char, count: usize) {
        let Some((field, kind, least)) = classify(letter, count) else { return };
        let length = i32::try_from(count.min(100)).unwrap_or_default();
        self.kinds[field] = if kind > 0 { kind + length } else { kind };
        self.letters[field] = (letter, count);
        self.base[field] = (letter, least);
    }

    /// The fields with as few letters as possible: what patterns are filed under.
    pub(crate) fn base(&self) -> String {
        self.base.iter().flat_map(|(letter, count)| std::iter::repeat_n(*letter, *count)).collect()
    }

    /// Letters of a field in the shortest form of its kind.
    pub(crate) fn base_count(&self, field: usize) -> usize {
        self.base[field].1
    }

    /// A bit for each field.
    pub(crate) fn mask(&self) -> u32 {
        (0..FIELDS).filter(|field| self.kinds[*field] != 0).fold(0, |mask, field| mask | 1 << field)
    }

    /// How far another one is, and which fields it lacks or has too many. Fields that are not in the mask do not count.
    pub(crate) fn distance(&self, other: &Self, mask: u32) -> Distance {
        let mut made = Distance::default();
        for field in 0..FIELDS {
            let own = if mask & 1 << field == 0 { 0 } else { self.kinds[field] };
            match (own, other.kinds[field]) {
                (own, other) if own == other => {}
                (0, _) => {
                    made.length += 0x10000;
                    made.extra |= 1 << field;
                }
                (_, 0) => {
                    made.length += 0x1000;
                    made.missing |= 1 << field;
                }
                (own, other) => made.length += (own - other).abs(),
            }
        }
        made
    }
}

/// How far two skeletons are from each other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Distance {
    pub(crate) length: i32,
    pub(crate) missing: u32,
    pub(crate) extra: u32,
}
