//! Names of locales: their canonical form, what they say, and which data there is for them.

use std::collections::BTreeMap;

use icu_locale::{LanguageIdentifier, Locale, LocaleCanonicalizer, LocaleExpander};

use crate::data::{self, Library};
use crate::error::{IntlError, Result};

/// The longest name that is looked at.
const MAX_TAG: usize = 1000;

/// The parts of a locale's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocaleParts {
    /// Without extensions: `zh-Hant-TW`.
    pub base: String,
    /// `zh`.
    pub language: String,
    /// `Hant`.
    pub script: Option<String>,
    /// `TW`.
    pub region: Option<String>,
    /// The Unicode extension: `nu` → `latn`.
    pub keywords: BTreeMap<String, String>,
}

fn parse(tag: &str) -> Result<Locale> {
    if tag.len() > MAX_TAG {
        return Err(IntlError::BadLocale);
    }
    let mut locale = Locale::try_from_str(tag).map_err(|_| IntlError::BadLocale)?;
    LocaleCanonicalizer::new_extended().canonicalize(&mut locale);
    Ok(locale)
}

/// The canonical form of a locale's name.
pub fn canonical(tag: &str) -> Result<String> {
    // BCP 47 knows no underscores and no empty language.
    if tag.contains('_') || tag.is_empty() || tag.len() > MAX_TAG {
        return Err(IntlError::BadLocale);
    }
    if is_registered(tag) {
        return Ok(tag.to_lowercase());
    }
    Ok(parse(tag)?.to_string())
}

/// A language of five to eight letters: allowed, and nobody's.
fn is_registered(tag: &str) -> bool {
    let first = tag.split('-').next().unwrap_or_default();
    (5..=8).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && tag
            .split('-')
            .all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

impl LocaleParts {
    /// Reads a name.
    pub fn of(tag: &str) -> Result<Self> {
        Ok(Self::from_locale(&parse(tag)?))
    }

    fn from_locale(locale: &Locale) -> Self {
        let id = &locale.id;
        let keywords = locale.extensions.unicode.keywords.iter();
        Self {
            base: id.to_string(),
            language: id.language.to_string(),
            script: id.script.map(|script| script.to_string()),
            region: id.region.map(|region| region.to_string()),
            keywords: keywords.map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        }
    }
}

fn changed(tag: &str, change: impl Fn(&mut LanguageIdentifier)) -> Result<String> {
    let mut locale = parse(tag)?;
    change(&mut locale.id);
    Ok(locale.to_string())
}

/// The name with all that is likely: `de` → `de-Latn-DE`.
pub fn maximized(tag: &str) -> Result<String> {
    changed(tag, |id| {
        LocaleExpander::new_extended().maximize(id);
    })
}

/// The name without what is likely anyway: `de-Latn-DE` → `de`.
pub fn minimized(tag: &str) -> Result<String> {
    changed(tag, |id| {
        LocaleExpander::new_extended().minimize(id);
    })
}

/// A locale that there is data for.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    /// As a formatter calls it, without extensions.
    pub(crate) tag: String,
    /// The data's name.
    pub(crate) data: String,
    pub(crate) language: String,
    pub(crate) region: String,
    /// What the request said in its Unicode extension.
    pub(crate) keywords: BTreeMap<String, String>,
}

impl Chosen {
    /// Its name with the keywords that had an effect.
    pub(crate) fn tag_with(&self, keywords: &[(&str, Option<&str>)]) -> String {
        let mut tag = self.tag.clone();
        let mut kept: Vec<_> = keywords.iter().filter_map(|(key, value)| Some((key, (*value)?))).collect();
        kept.sort();
        for (at, (key, value)) in kept.into_iter().enumerate() {
            tag += if at == 0 { "-u-" } else { "-" };
            tag += key;
            if value != "true" {
                tag += "-";
                tag += value;
            }
        }
        tag
    }
}

fn likely(base: &str) -> Option<LanguageIdentifier> {
    let mut id = LanguageIdentifier::try_from_str(base).ok()?;
    LocaleExpander::new_extended().maximize(&mut id);
    Some(id)
}

/// The data that belongs to exactly this name.
fn data_of(base: &str) -> Result<Option<String>> {
    let (index, _) = data::index()?;
    let has = |tag: &str| index.locales.contains_key(tag).then(|| tag.to_owned());
    if let Some(found) = has(base) {
        return Ok(Some(found));
    }
    let Some(id) = likely(base) else { return Ok(None) };
    let (Some(script), Some(region)) = (id.script, id.region) else { return Ok(None) };
    let language = id.language;
    let whole = format!("{language}-{script}-{region}");
    let short = format!("{language}-{region}");
    if let Some(found) = has(&whole) {
        return Ok(Some(found));
    }
    // The script is the language's usual one, so nobody writes it: `en-Latn-GB` is `en-GB`.
    let usual = likely(&language.to_string()).and_then(|id| id.script) == Some(script);
    if usual && let Some(found) = has(&short) {
        return Ok(Some(found));
    }
    if index.defaults.iter().any(|tag| *tag == whole || usual && *tag == short) {
        let parent = format!("{language}-{script}");
        return Ok(has(&parent).or_else(|| has(&language.to_string())));
    }
    Ok(None)
}

/// The longest beginning of a name that there is data for, and that data.
fn lookup(base: &str) -> Result<Option<(String, String)>> {
    let mut tag = base;
    loop {
        if let Some(found) = data_of(tag)? {
            return Ok(Some((tag.to_owned(), found)));
        }
        let Some((shorter, _)) = tag.rsplit_once('-') else { return Ok(None) };
        tag = shorter;
    }
}

impl Library {
    /// Chooses among the requested locales (canonical names); the first that is known counts.
    pub(crate) fn choose(&self, requested: &[String]) -> Result<Chosen> {
        for tag in requested.iter().filter(|tag| !is_registered(tag)) {
            let parts = LocaleParts::of(tag)?;
            if let Some((tag, data)) = lookup(&parts.base)? {
                return Ok(chosen(tag, data, parts.keywords));
            }
            self.refuse_known(tag, &parts.language)?;
        }
        Ok(chosen("en-US".to_owned(), "en".to_owned(), BTreeMap::new()))
    }

    /// A language that others write and this engine does not: a text in another one would not be noticed.
    fn refuse_known(&self, tag: &str, language: &str) -> Result<()> {
        let world = self.world()?;
        let known = data::at(&world, &["known"]).and_then(|known| known.as_array());
        if known.is_some_and(|known| known.iter().any(|known| known.as_str() == Some(language))) {
            return Err(IntlError::NoLanguage(tag.to_owned(), Self::languages()?.join(", ")));
        }
        Ok(())
    }

    /// The languages that there is data for.
    pub fn languages() -> Result<Vec<&'static str>> {
        let (index, _) = data::index()?;
        let mut own: Vec<_> = index.locales.keys().filter(|tag| !tag.contains('-')).map(String::as_str).collect();
        own.sort_unstable();
        Ok(own)
    }

    /// Whether there is data for a locale (a canonical name).
    pub fn supports(&self, tag: &str) -> Result<bool> {
        Ok(!is_registered(tag) && lookup(&LocaleParts::of(tag)?.base)?.is_some())
    }
}

fn chosen(tag: String, data: String, keywords: BTreeMap<String, String>) -> Chosen {
    let id = likely(&tag);
    let language = id.as_ref().map_or_else(|| "en".to_owned(), |id| id.language.to_string());
    let region = id.and_then(|id| id.region).map_or_else(|| "001".to_owned(), |region| region.to_string());
    Chosen { tag, data, language, region, keywords }
}

impl Library {
    /// The first day of the week (Monday is one), the days that the first week must have, and the days of the weekend.
    pub fn week(&self, tag: &str) -> Result<Vec<u8>> {
        let chosen = chosen(LocaleParts::of(tag)?.base, String::new(), BTreeMap::new());
        let world = self.world()?;
        let of = |table: &str| {
            let own = data::text(&world, &["week", table, &chosen.region]);
            own.or_else(|| data::text(&world, &["week", table, "001"])).unwrap_or_default().to_owned()
        };
        let day = |name: &str| ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].iter().position(|day| *day == name);
        let day = |table: &str| day(&of(table)).and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(1);
        let (start, end) = (day("weekendStart"), day("weekendEnd"));
        let mut made = vec![day("first"), of("min").parse().unwrap_or(1), start];
        if end != start {
            made.push(end);
        }
        Ok(made)
    }

    /// All values that an option can have, as `Intl.supportedValuesOf` gives them.
    pub fn values(&self, kind: &str) -> Result<Vec<String>> {
        let world = self.world()?;
        let strings = |key: &str| {
            let list = data::at(&world, &[key]).and_then(|list| list.as_array()).into_iter().flatten();
            list.filter_map(|item| item.as_str()).map(str::to_owned).collect::<Vec<_>>()
        };
        let fixed = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        let mut made = match kind {
            "timeZone" => strings("zones")
                .into_iter()
                .filter(|name| !name.starts_with("Etc/"))
                .chain(["UTC".to_owned()])
                .collect(),
            "currency" => strings("currencies"),
            "numberingSystem" => {
                let systems = data::at(&world, &["digits"]).and_then(|tree| tree.as_object()).into_iter().flatten();
                systems.map(|(name, _)| name.clone()).collect()
            }
            "calendar" => fixed(&crate::calendar::NAMES),
            "collation" => fixed(&crate::collate::COLLATIONS),
            _ => fixed(&crate::number::UNITS),
        };
        made.sort_unstable();
        Ok(made)
    }
}
