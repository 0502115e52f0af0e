//! The CSS `font` shorthand: parsed, kept, given back in its canonical form.

use crate::css::{Cursor, Token, length, tokenize};

/// Longest `font` text that is read.
const MAX_TEXT_BYTES: usize = 4096;

/// `font-style`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum FontStyle {
    #[default]
    Normal,
    Italic,
    Oblique,
}

/// One family of the list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) generic: bool,
}

/// A parsed font.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FontSpec {
    pub(crate) style: FontStyle,
    pub(crate) small_caps: bool,
    pub(crate) weight: u16,
    /// Percent; 100 is normal.
    pub(crate) stretch: u16,
    /// Pixels.
    pub(crate) size: f64,
    pub(crate) families: Vec<Family>,
}

impl Default for FontSpec {
    fn default() -> Self {
        Self {
            style: FontStyle::Normal,
            small_caps: false,
            weight: 400,
            stretch: 100,
            size: 10.0,
            families: vec![Family { name: "sans-serif".into(), generic: true }],
        }
    }
}

const GENERIC: [&str; 12] = [
    "serif",
    "sans-serif",
    "monospace",
    "cursive",
    "fantasy",
    "system-ui",
    "ui-serif",
    "ui-sans-serif",
    "ui-monospace",
    "ui-rounded",
    "emoji",
    "math",
];
const STRETCH: [(&str, u16); 8] = [
    ("ultra-condensed", 50),
    ("extra-condensed", 62),
    ("condensed", 75),
    ("semi-condensed", 87),
    ("semi-expanded", 112),
    ("expanded", 125),
    ("extra-expanded", 150),
    ("ultra-expanded", 200),
];

/// The width in percent that a `font-stretch` keyword names.
pub(crate) fn stretch_percent(name: &str) -> Option<u16> {
    if name == "normal" {
        return Some(100);
    }
    STRETCH.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
}

impl FontSpec {
    /// Parses the shorthand; `None` when it is invalid. Relative sizes refer to `base` pixels.
    pub(crate) fn parse(text: &str, base: f64) -> Option<Self> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        let tokens = tokenize(text);
        let mut c = Cursor::new(&tokens);
        c.skip_space();
        let mut ahead = c;
        if let Some(word) = ahead.ident()
            && ahead.at_end()
            && matches!(word, "caption" | "icon" | "menu" | "message-box" | "small-caption" | "status-bar")
        {
            let families = vec![Family { name: "system-ui".into(), generic: true }];
            return Some(Self { size: 16.0, families, ..Self::default() });
        }
        let mut spec = Self::default();
        spec.prefix(&mut c)?;
        spec.size = size(&mut c, base)?;
        if c.take(&Token::Delim('/')) {
            line_height(&mut c)?;
        }
        spec.families = families(&mut c)?;
        Some(spec)
    }

    /// Style, variant, weight and stretch, in any order, before the size.
    fn prefix(&mut self, c: &mut Cursor<'_>) -> Option<()> {
        let mut seen = 0;
        loop {
            c.skip_space();
            let before = *c;
            match c.next()? {
                Token::Ident { lower, .. } => match lower.as_str() {
                    "normal" => {}
                    "italic" => self.style = FontStyle::Italic,
                    "oblique" => {
                        self.style = FontStyle::Oblique;
                        let mut angle = *c;
                        angle.skip_space();
                        if let Some(Token::Dim(_, unit)) = angle.next()
                            && length::degrees_per_unit(unit).is_some()
                        {
                            *c = angle;
                        }
                    }
                    "small-caps" => self.small_caps = true,
                    "bold" => self.weight = 700,
                    "bolder" => self.weight = 700,
                    "lighter" => self.weight = 100,
                    word => match STRETCH.iter().find(|(n, _)| *n == word) {
                        Some((_, percent)) => self.stretch = *percent,
                        None => {
                            *c = before;
                            return Some(());
                        }
                    },
                },
                Token::Number { value, .. } if (1.0..=1000.0).contains(value) => {
                    self.weight = value.round() as u16;
                }
                _ => {
                    *c = before;
                    return Some(());
                }
            }
            seen += 1;
            if seen > 4 {
                return None;
            }
        }
    }
}

fn size(c: &mut Cursor<'_>, base: f64) -> Option<f64> {
    c.skip_space();
    let px = match c.next()? {
        Token::Dim(v, unit) => match unit.as_str() {
            "vw" | "vh" | "vmin" | "vmax" => 0.0,
            unit => v * length::px_per_unit(unit, base)?,
        },
        Token::Percent(p) => p / 100.0 * base,
        Token::Number { value, .. } if *value == 0.0 => 0.0,
        Token::Ident { lower, .. } => match lower.as_str() {
            "xx-small" => 9.0,
            "x-small" => 10.0,
            "small" => 13.0,
            "medium" => 16.0,
            "large" => 18.0,
            "x-large" => 24.0,
            "xx-large" => 32.0,
            "xxx-large" => 48.0,
            "smaller" => base / 1.2,
            "larger" => base * 1.2,
            _ => return None,
        },
        _ => return None,
    };
    (px >= 0.0 && px.is_finite()).then_some(px.min(10_000.0))
}

fn line_height(c: &mut Cursor<'_>) -> Option<()> {
    c.skip_space();
    match c.next()? {
        Token::Number { value, .. } if *value >= 0.0 => Some(()),
        Token::Percent(v) if *v >= 0.0 => Some(()),
        Token::Dim(v, unit) if *v >= 0.0 => length::px_per_unit(unit, 10.0).map(|_| ()),
        Token::Ident { lower, .. } if lower == "normal" => Some(()),
        _ => None,
    }
}

fn families(c: &mut Cursor<'_>) -> Option<Vec<Family>> {
    let mut out = Vec::new();
    loop {
        c.skip_space();
        match c.next()? {
            Token::Str(name) => out.push(Family { name: name.clone(), generic: false }),
            Token::Ident { lower, text } => {
                let mut name = text.clone();
                let mut words = 1;
                let mut ahead = *c;
                while ahead.skip_space() {
                    let Some(Token::Ident { text, .. }) = ahead.next() else { break };
                    name.push(' ');
                    name.push_str(text);
                    words += 1;
                    *c = ahead;
                }
                let wide =
                    matches!(lower.as_str(), "inherit" | "initial" | "unset" | "default" | "revert" | "revert-layer");
                if words == 1 && wide {
                    return None;
                }
                let generic = words == 1 && GENERIC.contains(&lower.as_str());
                out.push(Family { name: if generic { lower.clone() } else { name }, generic });
            }
            _ => return None,
        }
        if c.at_end() {
            return Some(out);
        }
        if !c.take(&Token::Comma) {
            return None;
        }
    }
}

/// Whether a name can be written without quotes.
fn is_plain(name: &str) -> bool {
    let word = |w: &str| {
        let mut chars = w.chars();
        chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || (c == '-' && w.len() > 1))
            && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    };
    word(name)
}

impl std::fmt::Display for FontSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.style {
            FontStyle::Normal => {}
            FontStyle::Italic => write!(f, "italic ")?,
            FontStyle::Oblique => write!(f, "oblique ")?,
        }
        if self.small_caps {
            write!(f, "small-caps ")?;
        }
        match self.weight {
            400 => {}
            700 => write!(f, "bold ")?,
            w => write!(f, "{w} ")?,
        }
        if let Some((name, _)) = STRETCH.iter().find(|(_, v)| *v == self.stretch) {
            write!(f, "{name} ")?;
        }
        write!(f, "{}px ", crate::color::number_text(self.size))?;
        for (i, family) in self.families.iter().enumerate() {
            if i > 0 {
                write!(f, ", ")?;
            }
            if family.generic || is_plain(&family.name) {
                write!(f, "{}", family.name)?;
            } else {
                write!(f, "\"{}\"", family.name.replace('\\', "\\\\").replace('"', "\\\""))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_come_back_in_canonical_form() {
        for (text, want) in [
            ("20px serif", Some("20px serif")),
            ("20PX   SERIF", Some("20px serif")),
            (
                "small-caps italic 400 12px/2 Unknown Font, sans-serif",
                Some("italic small-caps 12px \"Unknown Font\", sans-serif"),
            ),
            ("bold 1em Arial", Some("bold 10px Arial")),
            ("700 condensed 12pt 'My \"Font\"'", Some("bold condensed 16px \"My \\\"Font\\\"\"")),
            ("1000% serif", Some("100px serif")),
            ("", None),
            ("bogus", None),
            ("10px", None),
            ("10px {bogus}", None),
            ("10px initial", None),
            ("-1px serif", None),
            ("1em serif; background: green", None),
            ("10px serif,", None),
        ] {
            let got = FontSpec::parse(text, 10.0).map(|s| s.to_string());
            assert_eq!(got.as_deref(), want, "{text:?}");
        }
    }
}
