//! The order of texts in a language.

use std::cmp::Ordering;

use icu_collator::CollatorBorrowed;
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_locale::Locale;
use serde::Deserialize;

use crate::data::Library;
use crate::error::{IntlError, Result};

/// What `Intl.Collator` was asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CollatorSpec {
    pub(crate) locales: Vec<String>,
    #[serde(default)]
    pub(crate) search: bool,
    #[serde(default)]
    pub(crate) collation: Option<String>,
    pub(crate) sensitivity: Option<Sensitivity>,
    pub(crate) ignore_punctuation: Option<bool>,
    pub(crate) numeric: Option<bool>,
    pub(crate) case_first: Option<String>,
}

/// Which differences count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sensitivity {
    Base,
    Accent,
    Case,
    Variant,
}

/// `Intl.Collator`.
pub struct Collator {
    inner: CollatorBorrowed<'static>,
    /// The locale with the keywords that count.
    pub locale: String,
    /// `default` or the name of another order.
    pub collation: String,
    /// Whether numbers are ordered by their value.
    pub numeric: bool,
    /// `upper`, `lower` or `false`.
    pub case_first: String,
    /// Whether marks do not count.
    pub ignore_punctuation: bool,
}

impl std::fmt::Debug for Collator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collator").field("locale", &self.locale).finish_non_exhaustive()
    }
}

/// Orders that have a name.
pub(crate) const COLLATIONS: [&str; 10] =
    ["compat", "emoji", "eor", "phonebk", "pinyin", "searchjl", "stroke", "trad", "unihan", "zhuyin"];

impl Collator {
    /// Makes one.
    pub fn new(library: &Library, spec: &CollatorSpec) -> Result<Self> {
        let chosen = library.choose(&spec.locales)?;
        let broken = || IntlError::Data(chosen.tag.clone());
        let tagged = |key: &str| chosen.keywords.get(key).map(String::as_str);
        let truth = |value: &str| matches!(value, "" | "true");
        let numeric = spec.numeric.or_else(|| tagged("kn").map(truth)).unwrap_or(false);
        let case_first =
            spec.case_first.as_deref().or_else(|| tagged("kf").filter(|kf| ["upper", "lower", "false"].contains(kf)));
        let collation = spec.collation.as_deref().or_else(|| tagged("co")).filter(|name| COLLATIONS.contains(name));
        let mut tag = chosen.tag.clone() + "-u";
        match collation {
            _ if spec.search => tag += "-co-search",
            Some(collation) => tag = tag + "-co-" + collation,
            None => {}
        }
        if let Some(case_first) = case_first {
            tag = tag + "-kf-" + case_first;
        }
        tag += if numeric { "-kn" } else { "-kn-false" };
        // Danish has capitals first.
        let case_first = case_first.unwrap_or(if chosen.language == "da" { "upper" } else { "false" }).to_owned();
        let locale = Locale::try_from_str(&tag).map_err(|_| broken())?;
        let mut options = CollatorOptions::default();
        options.strength = Some(match spec.sensitivity.unwrap_or(Sensitivity::Variant) {
            Sensitivity::Base | Sensitivity::Case => Strength::Primary,
            Sensitivity::Accent => Strength::Secondary,
            Sensitivity::Variant => Strength::Tertiary,
        });
        if spec.sensitivity == Some(Sensitivity::Case) {
            options.case_level = Some(CaseLevel::On);
        }
        let ignore_punctuation = spec.ignore_punctuation.unwrap_or(chosen.language == "th");
        if ignore_punctuation {
            options.alternate_handling = Some(AlternateHandling::Shifted);
        }
        let inner = CollatorBorrowed::try_new((&locale).into(), options).map_err(|_| broken())?;
        let kn = tagged("kn").filter(|kn| truth(kn) == numeric).map(|kn| if truth(kn) { "true" } else { kn });
        let locale = chosen.tag_with(&[
            ("co", tagged("co").filter(|co| collation == Some(*co) && !spec.search)),
            ("kf", tagged("kf").filter(|kf| *kf == case_first)),
            ("kn", kn),
        ]);
        let collation = collation.filter(|_| !spec.search).unwrap_or("default").to_owned();
        Ok(Self { inner, locale, collation, numeric, case_first, ignore_punctuation })
    }

    /// Which of two texts comes first.
    pub fn compare(&self, one: &str, other: &str) -> Ordering {
        self.inner.compare(one, other)
    }
}
