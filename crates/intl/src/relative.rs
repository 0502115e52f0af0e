//! Times that are so far away: `in 3 days`, `yesterday`.

use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;

use crate::data::{Library, at, text};
use crate::error::Result;
use crate::number::{Grouping, Mode, NumberFormat, NumberSpec, Rounding, RoundingKind, Width};
use crate::part::{Part, PatternPiece, places, push};
use crate::plural::Rules;

/// What `Intl.RelativeTimeFormat` was asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelativeSpec {
    pub(crate) locales: Vec<String>,
    #[serde(default)]
    pub(crate) numbering_system: Option<String>,
    pub(crate) style: Width,
    /// Words instead of numbers where the language has them.
    pub(crate) auto: bool,
}

/// `Intl.RelativeTimeFormat`.
pub struct RelativeFormat {
    spec: RelativeSpec,
    words: Rc<Value>,
    rules: Rules,
    number: NumberFormat,
}

impl std::fmt::Debug for RelativeFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RelativeFormat").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl RelativeFormat {
    /// Makes one.
    pub fn new(library: &Library, spec: &RelativeSpec) -> Result<Self> {
        let chosen = library.choose(&spec.locales)?;
        let rounding = Rounding {
            kind: RoundingKind::FractionDigits,
            integer: 1,
            fraction: (0, 3),
            significant: (1, 21),
            increment: 1,
            mode: Mode::HalfExpand,
            strip: false,
        };
        let number = NumberSpec {
            locales: spec.locales.clone(),
            numbering_system: spec.numbering_system.clone(),
            style: Default::default(),
            currency: None,
            currency_display: Default::default(),
            accounting: false,
            unit: None,
            unit_display: Default::default(),
            notation: Default::default(),
            compact_long: false,
            sign_display: Default::default(),
            grouping: Grouping::Auto,
            rounding,
        };
        Ok(Self {
            spec: spec.clone(),
            words: library.section(&chosen.data, "relative")?,
            rules: Rules::new(&chosen, false)?,
            number: NumberFormat::new(library, &number)?,
        })
    }

    /// A time that is so many units away, in pieces. Those of the number are no literals.
    pub fn parts(&self, value: &str, unit: &str) -> Result<Vec<Part>> {
        let width = self.spec.style.name();
        if self.spec.auto {
            let key = value.strip_prefix('-').filter(|rest| *rest == "0").unwrap_or(value);
            if let Some(fixed) = text(&self.words, &[width, unit, "fixed", key]) {
                return Ok(vec![Part::literal(fixed)]);
            }
        }
        let (direction, size) = match value.strip_prefix('-') {
            Some(size) => ("past", size),
            None => ("future", value),
        };
        let form = self.number.rounded(size)?.map_or("other", |(number, exponent)| self.rules.form(&number, exponent));
        let forms = at(&self.words, &[width, unit, direction]);
        let pattern = forms.and_then(|forms| text(forms, &[form]).or_else(|| text(forms, &["other"]))).unwrap_or("{0}");
        let mut made = Vec::new();
        for place in places(pattern) {
            match place {
                PatternPiece::Text(text) => push(&mut made, Part::literal(text)),
                PatternPiece::Number(_) => made.extend(self.number.parts(size)?),
            }
        }
        Ok(made)
    }

    /// The locale and the digits.
    pub fn number(&self) -> &NumberFormat {
        &self.number
    }
}
