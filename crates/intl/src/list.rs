//! Lists: `one, two, and three`.

use serde::Deserialize;

use crate::data::{Library, at, text};
use crate::error::{IntlError, Result};
use crate::number::Width;
use crate::part::{Part, PatternPiece, places, push};

/// What `Intl.ListFormat` was asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListSpec {
    pub(crate) locales: Vec<String>,
    pub(crate) kind: ListKind,
    pub(crate) style: Width,
}

/// And, or, neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ListKind {
    Conjunction,
    Disjunction,
    Unit,
}

/// `Intl.ListFormat`.
#[derive(Debug)]
pub struct ListFormat {
    locale: String,
    language: String,
    start: String,
    middle: String,
    end: String,
    two: String,
}

impl ListFormat {
    /// Makes one.
    pub fn new(library: &Library, spec: &ListSpec) -> Result<Self> {
        let chosen = library.choose(&spec.locales)?;
        let lists = library.section(&chosen.data, "lists")?;
        let kind = match spec.kind {
            ListKind::Conjunction => "standard",
            ListKind::Disjunction => "or",
            ListKind::Unit => "unit",
        };
        let key = if spec.style == Width::Long { kind.to_owned() } else { format!("{kind}-{}", spec.style.name()) };
        let own = at(&lists, &[&key]).or_else(|| at(&lists, &[kind]));
        let own = own.ok_or_else(|| IntlError::Data(chosen.tag.clone()))?;
        let pattern = |name: &str| text(own, &[name]).unwrap_or("{0}, {1}").to_owned();
        Ok(Self {
            locale: chosen.tag,
            language: chosen.language,
            start: pattern("start"),
            middle: pattern("middle"),
            end: pattern("end"),
            two: pattern("2"),
        })
    }

    /// The locale that was chosen.
    pub fn locale(&self) -> &str {
        &self.locale
    }

    /// A list in pieces.
    pub fn parts(&self, items: &[String]) -> Vec<Part> {
        let mut made = Vec::new();
        // Literals stand apart even where they meet an empty element.
        let element = |text: &String| Part { kind: "element", text: text.clone() };
        match items {
            [] => {}
            [only] => made.push(element(only)),
            [first, last] => self.pair(&mut made, &self.two, first, last),
            [first, inner @ .., last] => {
                made.push(element(first));
                for (at, item) in inner.iter().enumerate() {
                    let pattern = if at == 0 { &self.start } else { &self.middle };
                    literal(&mut made, pattern, item);
                    made.push(element(item));
                }
                literal(&mut made, &self.fitting(&self.end, last), last);
                made.push(element(last));
                tail(&mut made, &self.end);
            }
        }
        made
    }

    fn pair(&self, made: &mut Vec<Part>, pattern: &str, first: &str, last: &str) {
        for place in places(&self.fitting(pattern, last)) {
            match place {
                PatternPiece::Text(text) => push(made, Part::literal(text)),
                PatternPiece::Number(0) => made.push(Part { kind: "element", text: first.to_owned() }),
                PatternPiece::Number(_) => made.push(Part { kind: "element", text: last.to_owned() }),
            }
        }
    }

    /// Spanish says `e` before an i and `u` before an o; Hebrew puts a dash before other scripts.
    fn fitting(&self, pattern: &str, next: &str) -> String {
        let low = next.to_lowercase();
        match self.language.as_str() {
            "es" => {
                let plain = low.strip_prefix('h').unwrap_or(&low);
                let i = (plain.starts_with('i') || plain.starts_with('í'))
                    && !(low.starts_with("hia") || low.starts_with("hie"));
                let o = plain.starts_with('o')
                    || plain.starts_with('ó')
                    || low.starts_with('8')
                    || low == "11"
                    || low.starts_with("11 ");
                let pattern = if i { pattern.replace(" y {1}", " e {1}") } else { pattern.to_owned() };
                if o { pattern.replace(" o {1}", " u {1}") } else { pattern }
            }
            "he" if !low.starts_with(|c: char| ('\u{590}'..='\u{5ff}').contains(&c)) => {
                pattern.replace("ו{1}", "ו-{1}")
            }
            _ => pattern.to_owned(),
        }
    }
}

/// What stands between the two places.
fn literal(made: &mut Vec<Part>, pattern: &str, _next: &str) {
    let mut inside = false;
    for place in places(pattern) {
        match place {
            PatternPiece::Number(0) => inside = true,
            PatternPiece::Number(_) => return,
            PatternPiece::Text(text) if inside => push(made, Part::literal(text)),
            PatternPiece::Text(_) => {}
        }
    }
}

/// What stands behind the last place.
fn tail(made: &mut Vec<Part>, pattern: &str) {
    if let Some(PatternPiece::Text(text)) = places(pattern).last() {
        push(made, Part::literal(*text));
    }
}
