//! A number format from the data of its locale.

use serde_json::Value;

use super::pattern::Pattern;
use super::spec::{CurrencyDisplay, Notation, NumberSpec, Style};
use super::write::{Groups, Symbols};
use super::{Name, NumberFormat};
use crate::data::{Library, at, text};
use crate::error::{IntlError, Result};
use crate::locale::Chosen;
use crate::plural::Rules;

/// The units that ECMA-402 knows.
pub(crate) const UNITS: [&str; 45] = [
    "acre",
    "bit",
    "byte",
    "celsius",
    "centimeter",
    "day",
    "degree",
    "fahrenheit",
    "fluid-ounce",
    "foot",
    "gallon",
    "gigabit",
    "gigabyte",
    "gram",
    "hectare",
    "hour",
    "inch",
    "kilobit",
    "kilobyte",
    "kilogram",
    "kilometer",
    "liter",
    "megabit",
    "megabyte",
    "meter",
    "microsecond",
    "mile",
    "mile-scandinavian",
    "milliliter",
    "millimeter",
    "millisecond",
    "minute",
    "month",
    "nanosecond",
    "ounce",
    "percent",
    "petabyte",
    "pound",
    "second",
    "stone",
    "terabit",
    "terabyte",
    "week",
    "yard",
    "year",
];

/// Forms by their names: `one` → text.
pub(super) fn forms(tree: Option<&Value>) -> Vec<(String, String)> {
    let pairs = tree.and_then(Value::as_object).into_iter().flatten();
    pairs.filter_map(|(form, text)| Some((form.clone(), text.as_str()?.to_owned()))).collect()
}

/// The signs of a locale, with the digits that were asked for, by their name.
pub(crate) fn symbols(library: &Library, chosen: &Chosen, wanted: Option<&str>) -> Result<(Symbols, String)> {
    let numbers = library.section(&chosen.data, "numbers")?;
    let world = library.world()?;
    let broken = || IntlError::Data(chosen.tag.clone());
    let known = |name: &str| text(&world, &["digits", name]).is_some();
    let named = |name: &str| match name {
        "native" | "default" | "traditio" | "finance" => None,
        name => Some(name.to_owned()).filter(|name| known(name)),
    };
    let asked = wanted.or_else(|| chosen.keywords.get("nu").map(String::as_str)).and_then(named);
    let system = asked.or_else(|| text(&numbers, &["default"]).map(str::to_owned)).filter(|name| known(name));
    let system = system.unwrap_or_else(|| "latn".to_owned());
    let own = at(&numbers, &["systems", &system, "symbols"]).or_else(|| at(&numbers, &["systems", "latn", "symbols"]));
    let own = own.ok_or_else(broken)?;
    let sign = |name: &str| text(own, &[name]).unwrap_or_default().to_owned();
    let digits = text(&world, &["digits", &system]).ok_or_else(broken)?.chars().collect();
    let symbols = Symbols {
        decimal: sign("decimal"),
        group: sign("group"),
        minus: sign("minusSign"),
        plus: sign("plusSign"),
        percent: sign("percentSign"),
        exponent: sign("exponential"),
        infinity: sign("infinity"),
        nan: sign("nan"),
        about: sign("approximatelySign"),
        digits,
    };
    Ok((symbols, system))
}

impl NumberFormat {
    /// Makes one.
    pub fn new(library: &Library, spec: &NumberSpec) -> Result<Self> {
        let chosen = library.choose(&spec.locales)?;
        let (mut symbols, system) = symbols(library, &chosen, spec.numbering_system.as_deref())?;
        let numbers = library.section(&chosen.data, "numbers")?;
        let own = at(&numbers, &["systems", &system]).or_else(|| at(&numbers, &["systems", "latn"]));
        let own = own.ok_or_else(|| IntlError::Data(chosen.tag.clone()))?;
        let in_words = spec.currency_display == CurrencyDisplay::Name || spec.style != Style::Currency;
        let percent_unit = spec.unit.as_deref() == Some("percent") && spec.unit_display != super::Width::Long;
        let pattern = match spec.style {
            Style::Percent => "percent",
            Style::Unit if percent_unit => "percent",
            Style::Currency if !in_words && spec.accounting => "accounting",
            Style::Currency if !in_words => "currency",
            _ => "decimal",
        };
        if spec.style == Style::Currency {
            for (sign, name) in [(&mut symbols.decimal, "currencyDecimal"), (&mut symbols.group, "currencyGroup")] {
                if let Some(own) = text(own, &["symbols", name]) {
                    own.clone_into(sign);
                }
            }
        }
        let mut pattern = Pattern::parse(text(own, &[pattern]).unwrap_or("#,##0.###"));
        if matches!(spec.notation, Notation::Scientific | Notation::Engineering) {
            pattern.groups = None;
        }
        let least = at(&numbers, &["minimumGrouping"]).and_then(Value::as_u64).unwrap_or(1);
        let groups = Groups::new(pattern.groups, usize::try_from(least).unwrap_or(1), spec.grouping);
        let rules = Rules::new(&chosen, false)?;
        let latin = at(&numbers, &["systems", "latn"]).unwrap_or(own);
        let compact = compact(own, latin, spec, in_words);
        let name = name(library, &chosen, spec, own, percent_unit)?;
        let asked = spec.numbering_system.as_deref().or(chosen.keywords.get("nu").map(String::as_str));
        let in_tag = chosen.keywords.get("nu").filter(|tag| **tag == system && asked == Some(tag.as_str()));
        Ok(Self {
            locale: chosen.tag_with(&[("nu", in_tag.map(String::as_str))]),
            numbering_system: system,
            spec: spec.clone(),
            symbols,
            pattern,
            groups,
            rules,
            compact,
            name,
            range: text(own, &["range"]).unwrap_or("{0}–{1}").to_owned(),
        })
    }
}

/// The patterns of compact notation, the smallest power first.
fn compact(own: &Value, latin: &Value, spec: &NumberSpec, in_words: bool) -> Vec<(i16, Vec<(String, String)>)> {
    if spec.notation != Notation::Compact {
        return Vec::new();
    }
    let table = match (in_words, spec.compact_long) {
        (false, _) => "currencyShort",
        (true, true) => "long",
        (true, false) => "short",
    };
    let own = at(own, &[table]).and_then(Value::as_object).filter(|table| !table.is_empty());
    let entries = own.or_else(|| at(latin, &[table])?.as_object()).into_iter().flatten();
    let mut made: Vec<(i16, _)> =
        entries.filter_map(|(power, patterns)| Some((power.parse().ok()?, forms(Some(patterns))))).collect();
    made.sort_by_key(|(power, _)| *power);
    made
}

fn name(library: &Library, chosen: &Chosen, spec: &NumberSpec, own: &Value, percent_unit: bool) -> Result<Name> {
    if let (Style::Currency, Some(code)) = (spec.style, &spec.currency) {
        let currencies = library.section(&chosen.data, "currencies")?;
        let sign = |name: &str| text(&currencies, &[code, name]);
        return Ok(match spec.currency_display {
            CurrencyDisplay::Code => Name::Sign(code.clone()),
            CurrencyDisplay::Symbol => Name::Sign(sign("symbol").unwrap_or(code).to_owned()),
            CurrencyDisplay::NarrowSymbol => {
                Name::Sign(sign("narrow").or_else(|| sign("symbol")).unwrap_or(code).to_owned())
            }
            CurrencyDisplay::Name => {
                let mut words = forms(at(&currencies, &[code, "counts"]));
                if words.is_empty() {
                    words.push(("other".to_owned(), sign("name").unwrap_or(code).to_owned()));
                }
                Name::Words(forms(at(own, &["currencyName"])), words)
            }
        });
    }
    let (Style::Unit, Some(unit), false) = (spec.style, &spec.unit, percent_unit) else { return Ok(Name::None) };
    let units = library.section(&chosen.data, "units")?;
    let width = spec.unit_display.name();
    let whole = forms(at(&units, &[width, unit, "counts"]));
    if !whole.is_empty() {
        return Ok(Name::Unit(whole, None));
    }
    let bad = || IntlError::BadOption { option: "unit", value: unit.clone() };
    let (over, under) = unit.split_once("-per-").ok_or_else(bad)?;
    let counts = forms(at(&units, &[width, over, "counts"]));
    if counts.is_empty() {
        return Err(bad());
    }
    if let Some(per) = text(&units, &[width, under, "per"]) {
        return Ok(Name::Unit(counts, Some(per.to_owned())));
    }
    // The unit below the line without its number.
    let below = forms(at(&units, &[width, under, "counts"]));
    let below = super::form_of(&below, "one").or_else(|| super::form_of(&below, "other")).ok_or_else(bad)?;
    let below = below.replace("{0}", "");
    let per = text(&units, &[width, "per"]).unwrap_or("{0}/{1}").replace("{1}", below.trim());
    Ok(Name::Unit(counts, Some(per)))
}

impl Library {
    /// How many digits a currency has behind the point.
    pub fn currency_digits(&self, code: &str) -> Result<u8> {
        let world = self.world()?;
        let digits = at(&world, &["fractions", code]).and_then(Value::as_u64);
        Ok(digits.and_then(|digits| u8::try_from(digits).ok()).unwrap_or(2))
    }
}
