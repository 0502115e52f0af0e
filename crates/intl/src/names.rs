//! Names of languages, regions, scripts, currencies, calendars and fields of dates.

use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;

use crate::data::{Library, text};
use crate::error::{IntlError, Result};
use crate::locale::LocaleParts;
use crate::number::Width;

/// What `Intl.DisplayNames` was asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamesSpec {
    pub(crate) locales: Vec<String>,
    pub(crate) kind: NameKind,
    pub(crate) style: Width,
    /// `British English` instead of `English (United Kingdom)`.
    pub(crate) dialect: bool,
}

/// What is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum NameKind {
    Language,
    Region,
    Script,
    Currency,
    Calendar,
    DateTimeField,
}

/// `Intl.DisplayNames`.
#[derive(Debug)]
pub struct DisplayNames {
    locale: String,
    spec: NamesSpec,
    names: Rc<Value>,
    currencies: Rc<Value>,
}

impl DisplayNames {
    /// Makes one.
    pub fn new(library: &Library, spec: &NamesSpec) -> Result<Self> {
        let chosen = library.choose(&spec.locales)?;
        Ok(Self {
            names: library.section(&chosen.data, "names")?,
            currencies: library.section(&chosen.data, "currencies")?,
            locale: chosen.tag,
            spec: spec.clone(),
        })
    }

    /// The locale that was chosen.
    pub fn locale(&self) -> &str {
        &self.locale
    }

    /// The name of a code, if there is one. The code was checked for its form.
    pub fn of(&self, code: &str) -> Result<Option<String>> {
        let short = self.spec.style != Width::Long;
        let named = |table: &str, code: &str| text(&self.names, &[table, code]).map(str::to_owned);
        let shortened = |table: &str, alternative: &str, code: &str| {
            short.then(|| named(alternative, code)).flatten().or_else(|| named(table, code))
        };
        Ok(match self.spec.kind {
            NameKind::Region => shortened("region", "regionShort", code),
            NameKind::Script => named("script", code),
            NameKind::Calendar => named(
                "calendar",
                match code {
                    "gregory" => "gregorian",
                    "ethioaa" => "ethiopic-amete-alem",
                    code => code,
                },
            ),
            NameKind::DateTimeField => {
                let field = match code {
                    "weekOfYear" => "week",
                    "dayPeriod" => "dayperiod",
                    "timeZoneName" => "zone",
                    field => field,
                };
                text(&self.names, &["field", self.spec.style.name(), field]).map(str::to_owned)
            }
            NameKind::Currency => {
                let of = |name: &str| text(&self.currencies, &[code, name]).map(str::to_owned);
                match self.spec.style {
                    Width::Long | Width::Short => of("name"),
                    Width::Narrow => of("narrow").or_else(|| of("symbol")),
                }
            }
            NameKind::Language => self.language(&LocaleParts::of(code).map_err(|_| IntlError::BadLocale)?, short),
        })
    }

    fn language(&self, parts: &LocaleParts, short: bool) -> Option<String> {
        let named = |code: &str| {
            let own = short.then(|| text(&self.names, &["languageShort", code])).flatten();
            own.or_else(|| text(&self.names, &["language", code])).map(str::to_owned)
        };
        let LocaleParts { language, script, region, .. } = parts;
        let join = |codes: &[&Option<String>]| {
            let more = codes.iter().filter_map(|code| code.as_deref());
            std::iter::once(language.as_str()).chain(more).collect::<Vec<_>>().join("-")
        };
        let none = None;
        let mut tried: Vec<(String, bool, bool)> = Vec::new();
        if self.spec.dialect {
            if script.is_some() && region.is_some() {
                tried.push((join(&[script, region]), true, true));
            }
            if region.is_some() {
                tried.push((join(&[region]), false, true));
            }
            if script.is_some() {
                tried.push((join(&[script]), true, false));
            }
        }
        tried.push((join(&[&none]), false, false));
        let (name, has_script, has_region) =
            tried.into_iter().find_map(|(code, script, region)| Some((named(&code)?, script, region)))?;
        let mut rest = Vec::new();
        if let Some(script) = script.as_ref().filter(|_| !has_script) {
            rest.push(text(&self.names, &["script", script]).unwrap_or(script).to_owned());
        }
        if let Some(region) = region.as_ref().filter(|_| !has_region) {
            let own = short.then(|| text(&self.names, &["regionShort", region])).flatten();
            rest.push(own.or_else(|| text(&self.names, &["region", region])).unwrap_or(region).to_owned());
        }
        if rest.is_empty() {
            return Some(name);
        }
        let separator = text(&self.names, &["pattern", "localeSeparator"]).unwrap_or("{0}, {1}");
        let rest = rest.into_iter().reduce(|one, other| separator.replace("{0}", &one).replace("{1}", &other))?;
        // Brackets inside of brackets become square ones.
        let rest = rest.replace('(', "[").replace(')', "]");
        let pattern = text(&self.names, &["pattern", "localePattern"]).unwrap_or("{0} ({1})");
        let name = name.replace('(', "[").replace(')', "]");
        Some(pattern.replace("{0}", &name).replace("{1}", &rest))
    }
}
