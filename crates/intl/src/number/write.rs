//! The digits of a number: its groups, its point, its powers of ten.

use fixed_decimal::UnsignedDecimal;

use super::spec::Grouping;
use crate::part::{Part, push};

/// The signs of a language for one system of digits.
#[derive(Debug, Clone)]
pub(crate) struct Symbols {
    pub(crate) decimal: String,
    pub(crate) group: String,
    pub(crate) minus: String,
    pub(crate) plus: String,
    pub(crate) percent: String,
    pub(crate) exponent: String,
    pub(crate) infinity: String,
    pub(crate) nan: String,
    pub(crate) about: String,
    pub(crate) digits: Vec<char>,
}

impl Symbols {
    /// Digits in the language's own form.
    pub(crate) fn digits(&self, plain: &str) -> String {
        plain.chars().map(|c| c.to_digit(10).and_then(|d| self.digits.get(d as usize)).copied().unwrap_or(c)).collect()
    }

    fn digit(&self, value: u8) -> char {
        self.digits.get(usize::from(value)).copied().unwrap_or('0')
    }
}

/// How thousands are set apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Groups {
    /// Digits of the last group and of those before it.
    pub(crate) sizes: Option<(usize, usize)>,
    /// Digits that must stand before the first mark.
    pub(crate) least: usize,
}

impl Groups {
    pub(crate) fn new(sizes: Option<(usize, usize)>, least: usize, grouping: Grouping) -> Self {
        match grouping {
            Grouping::Auto => Self { sizes, least },
            Grouping::Always => Self { sizes: sizes.or(Some((3, 3))), least: 1 },
            Grouping::Min2 => Self { sizes, least: least.max(2) },
            Grouping::Never => Self { sizes: None, least },
        }
    }

    /// Whether a mark stands behind the digit of this power of ten.
    fn mark_behind(&self, magnitude: usize, digits: usize) -> bool {
        let Some((last, others)) = self.sizes else { return false };
        if last == 0 || others == 0 || digits < last + self.least || magnitude < last {
            return false;
        }
        magnitude == last || (magnitude - last).is_multiple_of(others)
    }
}

/// The digits as pieces.
pub(crate) fn number(parts: &mut Vec<Part>, number: &UnsignedDecimal, symbols: &Symbols, groups: Groups) {
    let range = number.magnitude_range();
    let digits = usize::try_from(*range.end()).unwrap_or_default() + 1;
    let mut whole = String::new();
    for magnitude in (0..digits).rev() {
        let power = i16::try_from(magnitude).unwrap_or_default();
        whole.push(symbols.digit(number.digit_at(power)));
        if magnitude > 0 && groups.mark_behind(magnitude, digits) {
            push(parts, Part::new("integer", std::mem::take(&mut whole)));
            push(parts, Part::new("group", symbols.group.clone()));
        }
    }
    push(parts, Part::new("integer", whole));
    if *range.start() < 0 {
        push(parts, Part::new("decimal", symbols.decimal.clone()));
        let fraction = (*range.start()..0).rev().map(|magnitude| symbols.digit(number.digit_at(magnitude)));
        push(parts, Part::new("fraction", fraction.collect::<String>()));
    }
}

/// A power of ten behind the digits: `E-7`.
pub(crate) fn exponent(parts: &mut Vec<Part>, exponent: i16, symbols: &Symbols) {
    push(parts, Part::new("exponentSeparator", symbols.exponent.clone()));
    if exponent < 0 {
        push(parts, Part::new("exponentMinusSign", symbols.minus.clone()));
    }
    push(parts, Part::new("exponentInteger", symbols.digits(&exponent.unsigned_abs().to_string())));
}
