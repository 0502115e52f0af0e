//! Dates and times as a language writes them.

mod generator;
mod interval;
mod skeleton;
mod spec;
mod write;
mod zone;

use std::rc::Rc;

use serde_json::{Map, Value, json};

use self::generator::{Generator, glue};
use self::skeleton::{Item, items, pattern};
pub use self::spec::DateSpec;
use self::spec::{HourCycle, Style};
use self::zone::Zone;
use crate::calendar::Calendar;
use crate::data::{Library, at, text};
use crate::error::{IntlError, Result};
use crate::locale::Chosen;
use crate::number::{Symbols, symbols};
use crate::part::{Part, join};

/// The furthest moment that JavaScript has.
const MAX_MILLIS: f64 = 8.64e15;

/// `Intl.DateTimeFormat`.
pub struct DateFormat {
    locale: String,
    numbering_system: String,
    spec: DateSpec,
    calendar: Calendar,
    hour_cycle: Option<HourCycle>,
    zone: Zone,
    symbols: Symbols,
    items: Vec<Item>,
    names: Names,
    zone_names: Rc<Value>,
    /// The patterns of the calendar where it is not the Gregorian one.
    generic: Option<Rc<Value>>,
}

/// Words of a language for months, days and their parts.
struct Names {
    dates: Rc<Value>,
    /// Those of another calendar.
    calendar: Option<Value>,
    /// When parts of the day begin and end.
    periods: Value,
}

impl std::fmt::Debug for DateFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DateFormat").field("items", &self.items).finish_non_exhaustive()
    }
}

/// The hours of a region.
fn usual_hours(world: &Value, chosen: &Chosen) -> HourCycle {
    let both = format!("{}-{}", chosen.language, chosen.region);
    let preferred = [both.as_str(), &chosen.region, "001"].iter().find_map(|key| text(world, &["hours", key]));
    preferred.and_then(|text| HourCycle::of_letter(text.chars().next()?)).unwrap_or(HourCycle::H23)
}

fn calendar_of(world: &Value, chosen: &Chosen, wanted: Option<&str>) -> Result<Calendar> {
    for name in [wanted, chosen.keywords.get("ca").map(String::as_str)].into_iter().flatten() {
        if let Some(found) = Calendar::named(name)? {
            return Ok(found);
        }
    }
    let preferred = at(world, &["calendars", &chosen.region]).or_else(|| at(world, &["calendars", "001"]));
    let first = preferred.and_then(|list| list.get(0)).and_then(Value::as_str).unwrap_or("gregory");
    Ok(Calendar::named(first)?.unwrap_or(Calendar::Gregory))
}

/// The patterns of all calendars but the Gregorian one, with those of this one.
fn with_own(generic: &Value, own: Option<&Value>) -> Value {
    let mut made = generic.clone();
    for table in ["date", "available"] {
        let entries = own.and_then(|own| own.get(table)).and_then(Value::as_object).into_iter().flatten();
        for (key, pattern) in entries {
            if let Some(table) = made.get_mut(table).and_then(Value::as_object_mut) {
                if pattern.is_null() {
                    table.remove(key);
                } else {
                    table.insert(key.clone(), pattern.clone());
                }
            }
        }
    }
    made
}

impl DateFormat {
    /// Makes one.
    pub fn new(library: &Library, spec: &DateSpec) -> Result<Self> {
        let chosen = library.choose(&spec.locales)?;
        let world = library.world()?;
        let (symbols, system) = symbols(library, &chosen, spec.numbering_system.as_deref())?;
        let calendar = calendar_of(&world, &chosen, spec.calendar.as_deref())?;
        let zone = Zone::named(library, spec.time_zone.as_deref().unwrap_or("UTC"))?;
        let dates = library.section(&chosen.data, "dates")?;
        let (generic, own) = match calendar.section() {
            Some(name) => {
                let own = library.section(&chosen.data, "calendars")?.get(name).cloned();
                let generic = library.section(&chosen.data, "generic")?;
                (Some(Rc::new(with_own(&generic, own.as_ref()))), own)
            }
            None => (None, None),
        };
        let usual = usual_hours(&world, &chosen);
        let in_tag = chosen.keywords.get("hc").and_then(|hc| serde_json::from_value(Value::from(hc.as_str())).ok());
        let asked = match spec.hour12 {
            Some(true) if usual.is_twelve() => Some(usual),
            Some(true) if chosen.region == "JP" => Some(HourCycle::H11),
            Some(true) => Some(HourCycle::H12),
            Some(false) => Some(HourCycle::H23),
            None => spec.hour_cycle.or(in_tag),
        };
        let generator = Generator::new(&dates, generic.as_deref(), &symbols.decimal);
        let cycle = asked.unwrap_or(usual);
        let made = if spec.date_style.is_some() || spec.time_style.is_some() {
            styled(&dates, generic.as_deref(), spec, &generator, asked)
        } else {
            with_hours(&generator.best(&spec.skeleton(cycle.letter())), cycle)
        };
        let items = items(&made);
        let shown = items.iter().find_map(|item| match item {
            Item::Field(letter, _) => HourCycle::of_letter(*letter),
            Item::Text(_) => None,
        });
        let periods = at(&world, &["periods", &chosen.language]).cloned().unwrap_or(Value::Null);
        let keyword = |key: &str, value: &str, option: bool| {
            chosen.keywords.get(key).map(String::as_str).filter(|tag| *tag == value && !option)
        };
        let tag = chosen.tag_with(&[
            ("ca", keyword("ca", calendar.name(), spec.calendar.as_deref().is_some_and(|own| own != calendar.name()))),
            ("nu", keyword("nu", &system, spec.numbering_system.as_deref().is_some_and(|own| own != system))),
            ("hc", shown.and_then(|shown| keyword("hc", shown.name(), spec.hour12.is_some()))),
        ]);
        Ok(Self {
            locale: tag,
            numbering_system: system,
            spec: spec.clone(),
            calendar,
            hour_cycle: shown,
            zone,
            symbols,
            items,
            zone_names: library.section(&chosen.data, "zones")?,
            names: Names { dates, calendar: own, periods },
            generic,
        })
    }

    /// A moment as text.
    pub fn format(&self, millis: f64) -> Result<String> {
        // Programs look for plain blanks here, and other engines give them.
        Ok(join(&self.parts(millis)?).replace('\u{202f}', " "))
    }

    /// A moment in pieces.
    pub fn parts(&self, millis: f64) -> Result<Vec<Part>> {
        Ok(self.fill(&self.items, &self.moment(bounded(millis)?)))
    }

    /// What it does, as `resolvedOptions` says it.
    pub fn resolved(&self) -> Value {
        let mut made = Map::new();
        made.insert("locale".to_owned(), json!(self.locale));
        made.insert("calendar".to_owned(), json!(self.calendar.name()));
        made.insert("numberingSystem".to_owned(), json!(self.numbering_system));
        made.insert("timeZone".to_owned(), json!(self.zone.name));
        if let Some(cycle) = self.hour_cycle {
            made.insert("hourCycle".to_owned(), json!(cycle.name()));
            made.insert("hour12".to_owned(), json!(cycle.is_twelve()));
        }
        let words =
            |count: usize| ["", "", "", "short", "long", "narrow"].get(count.max(3)).copied().unwrap_or("short");
        let digits = |count: usize| if count == 2 { "2-digit" } else { "numeric" };
        for (name, letters) in [
            ("weekday", "Ece"),
            ("era", "G"),
            ("year", "yur"),
            ("month", "ML"),
            ("day", "d"),
            ("dayPeriod", "Bb"),
            ("hour", "hHkK"),
            ("minute", "m"),
            ("second", "s"),
            ("fractionalSecondDigits", "S"),
            ("timeZoneName", "zOv"),
        ] {
            if self.spec.date_style.is_some() || self.spec.time_style.is_some() {
                break;
            }
            let found = self.items.iter().find_map(|item| match item {
                Item::Field(letter, count) if letters.contains(*letter) => Some((*letter, *count)),
                _ => None,
            });
            let Some((letter, count)) = found else { continue };
            let value = match (name, letter) {
                ("weekday" | "era" | "dayPeriod", _) => json!(words(count)),
                ("month", _) if count > 2 => json!(words(count)),
                ("fractionalSecondDigits", _) => json!(count),
                ("timeZoneName", 'z') => json!(if count < 4 { "short" } else { "long" }),
                ("timeZoneName", 'O') => json!(if count < 4 { "shortOffset" } else { "longOffset" }),
                ("timeZoneName", _) => json!(if count < 4 { "shortGeneric" } else { "longGeneric" }),
                _ => json!(digits(count)),
            };
            made.insert(name.to_owned(), value);
        }
        for (name, style) in [("dateStyle", self.spec.date_style), ("timeStyle", self.spec.time_style)] {
            if let Some(style) = style {
                made.insert(name.to_owned(), json!(style.name()));
            }
        }
        Value::Object(made)
    }
}

fn bounded(millis: f64) -> Result<i64> {
    if !millis.is_finite() || millis.abs() > MAX_MILLIS {
        return Err(IntlError::BadTime);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
    Ok(millis as i64)
}

/// The pattern with these hours in the place of its own.
fn with_hours(from: &str, cycle: HourCycle) -> String {
    let changed: Vec<_> = items(from)
        .into_iter()
        .map(|item| match item {
            Item::Field(letter, count) if HourCycle::of_letter(letter).is_some() => Item::Field(cycle.letter(), count),
            item => item,
        })
        .collect();
    pattern(&changed)
}

/// The pattern for `dateStyle` and `timeStyle`.
fn styled(
    dates: &Value,
    own: Option<&Value>,
    spec: &DateSpec,
    generator: &Generator<'_>,
    asked: Option<HourCycle>,
) -> String {
    let date = spec.date_style.and_then(|style| {
        own.and_then(|own| text(own, &["date", style.name()])).or_else(|| text(dates, &["date", style.name()]))
    });
    let time = spec.time_style.and_then(|style| text(dates, &["time", style.name()])).map(|time| {
        let own = items(time).iter().find_map(|item| match item {
            Item::Field(letter, _) => HourCycle::of_letter(*letter),
            Item::Text(_) => None,
        });
        match asked {
            Some(asked) if own.is_some_and(|own| own != asked) => {
                let letters = items(time).into_iter().filter_map(|item| match item {
                    Item::Field('a' | 'b' | 'B', _) | Item::Text(_) => None,
                    Item::Field(letter, count) if HourCycle::of_letter(letter).is_some() => {
                        Some((asked.letter(), count))
                    }
                    Item::Field(letter, count) => Some((letter, count)),
                });
                let skeleton: String = letters.flat_map(|(letter, count)| std::iter::repeat_n(letter, count)).collect();
                with_hours(&generator.best(&skeleton), asked)
            }
            _ => time.to_owned(),
        }
    });
    match (date, time) {
        (Some(date), Some(time)) => {
            let style = spec.date_style.map_or("short", Style::name);
            glue(text(dates, &["glue", style]).unwrap_or("{1} {0}"), date, &time)
        }
        (Some(date), None) => date.to_owned(),
        (None, time) => time.unwrap_or_default(),
    }
}

impl Library {
    /// The canonical name of a time zone.
    pub fn zone(&self, name: &str) -> Result<String> {
        Ok(Zone::named(self, name)?.name)
    }
}
