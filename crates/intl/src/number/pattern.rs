//! CLDR's patterns of numbers: `¤#,##0.00;(¤#,##0.00)`.

/// One piece of what stands before or behind a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Affix {
    Text(String),
    Minus,
    Plus,
    Percent,
    Currency,
}

/// What stands around a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) prefix: Vec<Affix>,
    pub(crate) suffix: Vec<Affix>,
}

/// A parsed pattern.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pattern {
    pub(crate) positive: Around,
    pub(crate) negative: Option<Around>,
    /// Digits of the last group and of those before it; none where there are no groups.
    pub(crate) groups: Option<(usize, usize)>,
}

impl Pattern {
    pub(crate) fn parse(pattern: &str) -> Self {
        let (positive, negative) = match split_unquoted(pattern, ';') {
            Some((positive, negative)) => (positive, Some(negative)),
            None => (pattern, None),
        };
        let (around, body) = around(positive);
        Self { positive: around, negative: negative.map(|negative| self::around(negative).0), groups: groups(&body) }
    }

    /// What stands around a number with this sign.
    pub(crate) fn around(&self, sign: Sign) -> Around {
        let negative_has_minus = self
            .negative
            .as_ref()
            .is_some_and(|around| around.prefix.contains(&Affix::Minus) || around.suffix.contains(&Affix::Minus));
        match (&self.negative, sign) {
            (Some(negative), Sign::Minus) => negative.clone(),
            (Some(negative), Sign::Plus) if negative_has_minus => negative.with_plus(),
            (_, Sign::None) => self.positive.clone(),
            (_, sign) => {
                let mut made = self.positive.clone();
                made.prefix.insert(0, if sign == Sign::Minus { Affix::Minus } else { Affix::Plus });
                made
            }
        }
    }
}

impl Around {
    fn with_plus(&self) -> Self {
        let change = |affix: &Affix| if *affix == Affix::Minus { Affix::Plus } else { affix.clone() };
        Self { prefix: self.prefix.iter().map(change).collect(), suffix: self.suffix.iter().map(change).collect() }
    }
}

/// The sign that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    None,
    Minus,
    Plus,
}

fn split_unquoted(text: &str, mark: char) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            c if c == mark && !quoted => return Some((&text[..at], &text[at + c.len_utf8()..])),
            _ => {}
        }
    }
    None
}

/// What stands around the digits, and the digits.
pub(crate) fn around(pattern: &str) -> (Around, String) {
    let mut made = Around::default();
    let mut body = String::new();
    let mut quoted = false;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            // Two of them are one that is meant.
            if chars.peek() == Some(&'\'') {
                chars.next();
                add(if body.is_empty() { &mut made.prefix } else { &mut made.suffix }, '\'');
            } else {
                quoted = !quoted;
            }
            continue;
        }
        if !quoted && matches!(c, '0' | '#' | ',' | '.' | 'E') && (made.suffix.is_empty()) {
            body.push(c);
            continue;
        }
        let list = if body.is_empty() { &mut made.prefix } else { &mut made.suffix };
        match c {
            '-' if !quoted => list.push(Affix::Minus),
            '+' if !quoted => list.push(Affix::Plus),
            '%' if !quoted => list.push(Affix::Percent),
            '¤' if !quoted => list.push(Affix::Currency),
            c => add(list, c),
        }
    }
    (made, body)
}

fn add(list: &mut Vec<Affix>, c: char) {
    match list.last_mut() {
        Some(Affix::Text(text)) => text.push(c),
        _ => list.push(Affix::Text(c.to_string())),
    }
}

fn groups(body: &str) -> Option<(usize, usize)> {
    let whole = body.split('.').next().unwrap_or_default();
    let mut lengths = whole.rsplit(',').map(str::len);
    let last = lengths.next()?;
    let before: Vec<_> = lengths.collect();
    match before.as_slice() {
        [] => None,
        [_] => Some((last, last)),
        [second, ..] => Some((last, *second)),
    }
}
