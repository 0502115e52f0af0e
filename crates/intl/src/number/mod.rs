//! Numbers as a language writes them.

mod build;
mod pattern;
mod range;
mod round;
mod spec;
mod write;

use fixed_decimal::UnsignedDecimal;

pub(crate) use self::build::{UNITS, symbols};
use self::pattern::{Affix, Around, Pattern, Sign};
pub use self::spec::NumberSpec;
pub(crate) use self::spec::*;
use self::write::Groups;
pub(crate) use self::write::Symbols;
use crate::error::{IntlError, Result};
use crate::part::{Part, PatternPiece, join, places, push};
use crate::plural::Rules;

/// The longest text of a number that is read.
const MAX_TEXT: usize = 8 << 10;

/// `Intl.NumberFormat`.
pub struct NumberFormat {
    locale: String,
    numbering_system: String,
    spec: NumberSpec,
    symbols: Symbols,
    pattern: Pattern,
    groups: Groups,
    rules: Rules,
    /// By power of ten and plural form.
    compact: Vec<(i16, Vec<(String, String)>)>,
    name: Name,
    range: String,
}

/// What a number counts.
enum Name {
    None,
    /// A sign in the pattern's place for it, and what stands between it and a digit.
    Sign(String),
    /// Words around the number, by plural form: `{0} {1}`, and the word.
    Words(Vec<(String, String)>, Vec<(String, String)>),
    /// A unit around the number, by plural form, and what that is per.
    Unit(Vec<(String, String)>, Option<String>),
}

impl std::fmt::Debug for NumberFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NumberFormat").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// A number that came as text.
enum Given {
    Number(UnsignedDecimal),
    Infinity,
    Nan,
}

fn read(text: &str) -> Result<(Given, bool)> {
    if text.len() > MAX_TEXT {
        return Err(IntlError::BadNumber);
    }
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let given = match rest {
        "NaN" => Given::Nan,
        "Infinity" => Given::Infinity,
        rest => {
            let plain = rest.replace("e+", "e").replace("E+", "e");
            let plain = plain.strip_suffix('.').unwrap_or(&plain);
            Given::Number(UnsignedDecimal::try_from_str(plain).map_err(|_| IntlError::BadNumber)?)
        }
    };
    Ok((given, negative))
}

/// The digits that are shown, and how many powers of ten are left out of them.
struct Shown {
    digits: UnsignedDecimal,
    power: i16,
    /// The text around it in compact notation.
    words: Option<String>,
}

impl NumberFormat {
    /// The locale that was chosen, with the keywords that count.
    pub fn locale(&self) -> &str {
        &self.locale
    }

    /// The name of the digits.
    pub fn numbering_system(&self) -> &str {
        &self.numbering_system
    }

    /// A number as text.
    pub fn format(&self, number: &str) -> Result<String> {
        Ok(join(&self.parts(number)?))
    }

    /// A number in pieces.
    pub fn parts(&self, number: &str) -> Result<Vec<Part>> {
        let (given, negative) = read(number)?;
        let mut inner = Vec::new();
        let mut shown = None;
        let zero = match given {
            Given::Nan => {
                push(&mut inner, Part::new("nan", self.symbols.nan.clone()));
                false
            }
            Given::Infinity => {
                push(&mut inner, Part::new("infinity", self.symbols.infinity.clone()));
                false
            }
            Given::Number(number) => {
                let made = self.shown(number, negative);
                write::number(&mut inner, &made.digits, &self.symbols, self.groups);
                if matches!(self.spec.notation, Notation::Scientific | Notation::Engineering) {
                    write::exponent(&mut inner, made.power, &self.symbols);
                }
                let zero = made.digits.is_zero();
                shown = Some(made);
                zero
            }
        };
        let is_nan = inner.first().is_some_and(|part| part.kind == "nan");
        let sign = self.sign(negative && !is_nan, zero || is_nan);
        let form = shown.as_ref().map_or("other", |shown| {
            let compact = self.spec.notation == Notation::Compact;
            let power = if compact { u8::try_from(shown.power).unwrap_or_default() } else { 0 };
            self.rules.form(&shown.digits, power)
        });
        let words = shown.as_ref().and_then(|shown| shown.words.as_deref());
        Ok(self.dress(inner, sign, words, form))
    }

    /// A number rounded as it would be shown, and the power of ten that is left out; `None` for what is no number.
    pub(crate) fn rounded(&self, number: &str) -> Result<Option<(UnsignedDecimal, u8)>> {
        let (given, negative) = read(number)?;
        let Given::Number(number) = given else { return Ok(None) };
        let shown = self.shown(number, negative);
        let power =
            if self.spec.notation == Notation::Compact { u8::try_from(shown.power).unwrap_or_default() } else { 0 };
        Ok(Some((shown.digits, power)))
    }

    fn sign(&self, negative: bool, zero: bool) -> Sign {
        match (self.spec.sign_display, negative) {
            (SignDisplay::Never, _) => Sign::None,
            (SignDisplay::ExceptZero | SignDisplay::Negative, _) if zero => Sign::None,
            (_, true) => Sign::Minus,
            (SignDisplay::Always | SignDisplay::ExceptZero, false) => Sign::Plus,
            _ => Sign::None,
        }
    }

    /// Scales and rounds.
    fn shown(&self, mut number: UnsignedDecimal, negative: bool) -> Shown {
        let round = |number: &UnsignedDecimal| self.spec.rounding.apply(number, negative);
        if self.spec.style == Style::Percent {
            number.multiply_pow10(2);
        }
        let magnitude = |number: &UnsignedDecimal| if number.is_zero() { 0 } else { number.nonzero_magnitude_start() };
        let power_of = |magnitude: i16| match self.spec.notation {
            Notation::Standard => 0,
            Notation::Scientific => magnitude,
            Notation::Engineering => magnitude.div_euclid(3) * 3,
            Notation::Compact => self.compact_entry(magnitude).map_or(0, |(power, _)| power),
        };
        let mut power = power_of(magnitude(&number));
        let mut digits = round(&number.clone().multiplied_pow10(-power));
        // Rounding may carry into the next power: 999,999 is one million.
        let carried = power_of(magnitude(&digits) + power);
        if carried != power && !digits.is_zero() {
            power = carried;
            digits = round(&number.multiplied_pow10(-power));
        }
        let words = (self.spec.notation == Notation::Compact).then(|| self.compact_words(&digits, power)).flatten();
        Shown { digits, power, words }
    }

    /// The entry of compact notation for a power of ten: the power that is left out, and the patterns.
    fn compact_entry(&self, magnitude: i16) -> Option<(i16, &[(String, String)])> {
        let (power, patterns) = self.compact.iter().rev().find(|(power, _)| *power <= magnitude)?;
        let other = form_of(patterns, "other")?;
        let zeros = i16::try_from(other.matches('0').count()).unwrap_or(1).max(1);
        // `0` alone says that nothing is left out.
        if other == "0" { None } else { Some((power - zeros + 1, patterns)) }
    }

    fn compact_words(&self, digits: &UnsignedDecimal, power: i16) -> Option<String> {
        if power == 0 {
            return None;
        }
        let magnitude = if digits.is_zero() { 0 } else { digits.nonzero_magnitude_start() };
        let (_, patterns) = self.compact_entry(magnitude + power)?;
        if digits.to_string() == "1"
            && let Some(pattern) = form_of(patterns, "1")
        {
            return Some(pattern.to_owned());
        }
        let form = self.rules.form(digits, 0);
        form_of(patterns, form).or_else(|| form_of(patterns, "other")).map(str::to_owned)
    }

    /// Puts signs, words and units around the digits.
    fn dress(&self, inner: Vec<Part>, sign: Sign, words: Option<&str>, form: &str) -> Vec<Part> {
        let dressed = match words {
            // The compact form of a currency has its own place for the sign.
            Some(words) => {
                let (around, body) = pattern::around(words);
                let around = mark_words(around);
                // `mille` is a word for the whole number.
                let inner = if body.is_empty() { Vec::new() } else { inner };
                let signs = self.pattern.around(sign);
                let signs = if words.contains('¤') { signs_only(&signs) } else { signs };
                let mut prefix: Vec<_> = signs.prefix.into_iter().map(Word::from).collect();
                prefix.extend(around.0);
                let mut suffix = around.1;
                suffix.extend(signs.suffix.into_iter().map(Word::from));
                self.surround(inner, &prefix, &suffix)
            }
            None => {
                let Around { prefix, suffix } = self.pattern.around(sign);
                let prefix: Vec<_> = prefix.into_iter().map(Word::from).collect();
                let suffix: Vec<_> = suffix.into_iter().map(Word::from).collect();
                self.surround(inner, &prefix, &suffix)
            }
        };
        self.name(dressed, form)
    }

    /// Words around the digits, with a blank between letters and digits where the language wants one.
    fn surround(&self, inner: Vec<Part>, prefix: &[Word], suffix: &[Word]) -> Vec<Part> {
        let mut made = Vec::new();
        let digit_first = inner.first().is_some_and(|part| part.kind == "integer");
        let digit_last = inner.last().is_some_and(|part| matches!(part.kind, "integer" | "fraction"));
        for (at, word) in prefix.iter().enumerate() {
            self.word(&mut made, word);
            if at + 1 == prefix.len() && digit_first && self.needs_blank(word, false) {
                push(&mut made, Part::literal("\u{a0}"));
            }
        }
        for part in inner {
            push(&mut made, part);
        }
        for (at, word) in suffix.iter().enumerate() {
            if at == 0 && digit_last && self.needs_blank(word, true) {
                push(&mut made, Part::literal("\u{a0}"));
            }
            self.word(&mut made, word);
        }
        made
    }

    fn needs_blank(&self, word: &Word, behind: bool) -> bool {
        let (Word::Affix(Affix::Currency), Name::Sign(sign)) = (word, &self.name) else { return false };
        let near = if behind { sign.chars().next() } else { sign.chars().next_back() };
        near.is_some_and(|near| near.is_alphanumeric() || near == '.')
    }

    fn word(&self, made: &mut Vec<Part>, word: &Word) {
        let symbols = &self.symbols;
        match word {
            Word::Compact(text) => named_parts(made, "compact", text),
            Word::Affix(Affix::Text(text)) => push(made, Part::literal(text.clone())),
            Word::Affix(Affix::Minus) => named_parts(made, "minusSign", &symbols.minus),
            Word::Affix(Affix::Plus) => named_parts(made, "plusSign", &symbols.plus),
            Word::Affix(Affix::Percent) => {
                let kind = if self.spec.style == Style::Unit { "unit" } else { "percentSign" };
                named_parts(made, kind, &symbols.percent);
            }
            Word::Affix(Affix::Currency) => {
                if let Name::Sign(sign) = &self.name {
                    push(made, Part::new("currency", sign.clone()));
                }
            }
        }
    }

    /// The name of what is counted, in words.
    fn name(&self, number: Vec<Part>, form: &str) -> Vec<Part> {
        match &self.name {
            Name::None | Name::Sign(_) => number,
            Name::Words(patterns, words) => {
                let pattern = form_of(patterns, form).or_else(|| form_of(patterns, "other")).unwrap_or("{0} {1}");
                let word = form_of(words, form).or_else(|| form_of(words, "other")).unwrap_or_default();
                let mut made = Vec::new();
                for place in places(pattern) {
                    match place {
                        PatternPiece::Text(text) => push(&mut made, Part::literal(text)),
                        PatternPiece::Number(0) => made.extend(number.iter().cloned()),
                        PatternPiece::Number(_) => push(&mut made, Part::new("currency", word)),
                    }
                }
                made
            }
            Name::Unit(patterns, per) => {
                let pattern = form_of(patterns, form).or_else(|| form_of(patterns, "other")).unwrap_or("{0}");
                let pattern = per.as_ref().map_or_else(|| pattern.to_owned(), |per| per.replace("{0}", pattern));
                let mut made = Vec::new();
                for place in places(&pattern) {
                    match place {
                        PatternPiece::Text(text) => named_parts(&mut made, "unit", text),
                        PatternPiece::Number(_) => made.extend(number.iter().cloned()),
                    }
                }
                made
            }
        }
    }
}

/// What stands beside the digits.
enum Word {
    Affix(Affix),
    Compact(String),
}

impl From<Affix> for Word {
    fn from(affix: Affix) -> Self {
        Self::Affix(affix)
    }
}

/// The texts of a compact pattern are words, not literals.
fn mark_words(around: Around) -> (Vec<Word>, Vec<Word>) {
    let mark = |affix: Affix| match affix {
        Affix::Text(text) if !text.trim().is_empty() => Word::Compact(text),
        other => Word::Affix(other),
    };
    (around.prefix.into_iter().map(mark).collect(), around.suffix.into_iter().map(mark).collect())
}

/// Without the place for a currency, which the compact pattern has itself.
fn signs_only(around: &Around) -> Around {
    let signs = |list: &[Affix]| {
        let is_sign = |affix: &&Affix| match affix {
            Affix::Minus | Affix::Plus => true,
            Affix::Text(text) => matches!(text.as_str(), "(" | ")"),
            _ => false,
        };
        list.iter().filter(is_sign).cloned().collect()
    };
    Around { prefix: signs(&around.prefix), suffix: signs(&around.suffix) }
}

fn edges(text: &str) -> (&str, &str, &str) {
    let inner = text.trim_matches(is_blank);
    if inner.is_empty() {
        return (text, "", "");
    }
    let start = text.find(inner).unwrap_or_default();
    (&text[..start], inner, &text[start + inner.len()..])
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// A word without the blanks and the invisible marks around it.
fn named_parts(made: &mut Vec<Part>, kind: &'static str, text: &str) {
    let (before, inner, behind) = edges(text);
    push(made, Part::literal(before));
    push(made, Part::new(kind, inner));
    push(made, Part::literal(behind));
}

/// The text for a plural form.
fn form_of<'a>(forms: &'a [(String, String)], form: &str) -> Option<&'a str> {
    forms.iter().find(|(name, _)| name == form).map(|(_, text)| text.as_str())
}
