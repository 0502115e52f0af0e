//! Plural rules: which of a language's forms goes with a number.

use fixed_decimal::UnsignedDecimal;
use icu_locale::Locale;
use icu_plurals::{
    PluralCategory, PluralOperands, PluralRuleType, PluralRules, PluralRulesOptions, PluralRulesWithRanges,
};
use serde::Deserialize;

use crate::data::Library;
use crate::error::{IntlError, Result};
use crate::locale::Chosen;
use crate::number::{NumberFormat, NumberSpec};

/// The rules of one language.
pub(crate) struct Rules(PluralRulesWithRanges<PluralRules>);

impl Rules {
    pub(crate) fn new(chosen: &Chosen, ordinal: bool) -> Result<Self> {
        let broken = || IntlError::Data(chosen.tag.clone());
        let locale = Locale::try_from_str(&chosen.tag).map_err(|_| broken())?;
        let kind = if ordinal { PluralRuleType::Ordinal } else { PluralRuleType::Cardinal };
        let options = PluralRulesOptions::default().with_type(kind);
        PluralRulesWithRanges::try_new((&locale).into(), options).map(Self).map_err(|_| broken())
    }

    /// The form for a number that is written with so many powers of ten left out.
    pub(crate) fn form(&self, number: &UnsignedDecimal, exponent: u8) -> &'static str {
        name(self.category(number, exponent))
    }

    fn category(&self, number: &UnsignedDecimal, exponent: u8) -> PluralCategory {
        self.0.rules().category_for(PluralOperands::from_significand_and_exponent(number, exponent))
    }
}

fn name(category: PluralCategory) -> &'static str {
    match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => "other",
    }
}

/// What `Intl.PluralRules` was asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluralSpec {
    /// `ordinal` instead of `cardinal`.
    pub(crate) ordinal: bool,
    /// How numbers are rounded before they are looked at.
    pub(crate) number: NumberSpec,
}

/// `Intl.PluralRules`.
pub struct PluralFormat {
    rules: Rules,
    format: NumberFormat,
}

impl std::fmt::Debug for PluralFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluralFormat").finish_non_exhaustive()
    }
}

impl PluralFormat {
    /// Makes one.
    pub fn new(library: &Library, spec: &PluralSpec) -> Result<Self> {
        let chosen = library.choose(&spec.number.locales)?;
        Ok(Self { rules: Rules::new(&chosen, spec.ordinal)?, format: NumberFormat::new(library, &spec.number)? })
    }

    /// The form for a number.
    pub fn select(&self, number: &str) -> Result<&'static str> {
        Ok(self.category(number)?.map_or("other", name))
    }

    fn category(&self, number: &str) -> Result<Option<PluralCategory>> {
        Ok(self.format.rounded(number)?.map(|(number, exponent)| self.rules.category(&number, exponent)))
    }

    /// The form for a range.
    pub fn select_range(&self, start: &str, end: &str) -> Result<&'static str> {
        let (start, end) = (self.category(start)?, self.category(end)?);
        let (start, end) = (start.unwrap_or(PluralCategory::Other), end.unwrap_or(PluralCategory::Other));
        Ok(name(self.rules.0.resolve_range(start, end)))
    }

    /// The forms that the language has.
    pub fn categories(&self) -> Vec<&'static str> {
        self.rules.0.rules().categories().map(name).collect()
    }

    /// How it rounds, and the locale.
    pub fn number(&self) -> &NumberFormat {
        &self.format
    }
}
