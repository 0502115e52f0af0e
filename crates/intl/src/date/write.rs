//! The fields of a pattern, filled with one moment.

use serde_json::Value;

use super::skeleton::Item;
use super::{DateFormat, Names};
use crate::calendar::Day;
use crate::data::{at, text};
use crate::part::{Part, push};

const DAY_MILLIS: i64 = 86_400_000;

/// A moment in a zone and a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) millis: i64,
    pub(crate) day: Day,
    weekday: usize,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    milli: i64,
}

impl DateFormat {
    pub(crate) fn moment(&self, millis: i64) -> Moment {
        let local = millis + self.zone.at(millis).offset_seconds * 1000;
        let (days, rest) = (local.div_euclid(DAY_MILLIS), local.rem_euclid(DAY_MILLIS));
        Moment {
            millis,
            day: self.calendar.day(days),
            weekday: usize::try_from((days + 4).rem_euclid(7)).unwrap_or_default(),
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            milli: rest % 1000,
        }
    }

    /// The pieces of some items.
    pub(crate) fn fill(&self, items: &[Item], moment: &Moment) -> Vec<Part> {
        let mut made = Vec::new();
        for item in items {
            let part = match item {
                Item::Text(text) => Part::literal(text.clone()),
                Item::Field(letter, count) => self.field(*letter, *count, moment),
            };
            push(&mut made, part);
        }
        made
    }

    fn field(&self, letter: char, count: usize, moment: &Moment) -> Part {
        let day = &moment.day;
        let names = &self.names;
        let number = |value: i64, width: usize| self.symbols.digits(&format!("{value:0width$}"));
        match letter {
            'G' => Part::new("era", names.era(day.era, count)),
            'y' | 'Y' | 'u' | 'r' => {
                let kind = if letter == 'r' { "relatedYear" } else { "year" };
                let value = if count == 2 { day.year.rem_euclid(100) } else { day.year };
                // The first year of an era has a name in Japanese.
                Part::new(kind, number(value, count))
            }
            'M' | 'L' => {
                let form = if letter == 'M' { "format" } else { "stand-alone" };
                let month = match count {
                    0..=2 => number(i64::from(day.month), count),
                    count => names.month(form, width(count), usize::from(day.month)),
                };
                Part::new("month", month)
            }
            'd' => Part::new("day", number(i64::from(day.day), count)),
            'E' | 'c' | 'e' => {
                let form = if letter == 'c' { "stand-alone" } else { "format" };
                Part::new("weekday", names.weekday(form, width(count), moment.weekday))
            }
            'a' | 'b' | 'B' => Part::new("dayPeriod", names.period(letter, width(count), moment)),
            'H' => Part::new("hour", number(moment.hour, count)),
            'k' => Part::new("hour", number(if moment.hour == 0 { 24 } else { moment.hour }, count)),
            'h' => Part::new("hour", number((moment.hour + 11) % 12 + 1, count)),
            'K' => Part::new("hour", number(moment.hour % 12, count)),
            'm' => Part::new("minute", number(moment.minute, count)),
            's' => Part::new("second", number(moment.second, count)),
            'S' => {
                let digits: String = format!("{:03}", moment.milli).chars().chain("000".chars()).take(count).collect();
                Part::new("fractionalSecond", self.symbols.digits(&digits))
            }
            'z' | 'O' | 'v' => {
                let zone = &self.zone;
                let digits = |plain: &str| self.symbols.digits(plain);
                Part::new("timeZoneName", zone.called(&self.zone_names, digits, moment.millis, letter, count))
            }
            _ => Part::literal(""),
        }
    }
}

fn width(count: usize) -> &'static str {
    match count {
        4 => "wide",
        5 => "narrow",
        6 => "short",
        _ => "abbreviated",
    }
}

impl Names {
    fn month(&self, form: &str, width: &str, month: usize) -> String {
        let own = self.calendar.as_ref().and_then(|own| at(own, &["months", form, width]));
        let names = own.or_else(|| at(&self.dates, &["months", form, width]));
        names.and_then(|names| names.get(month.checked_sub(1)?)).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn weekday(&self, form: &str, width: &str, weekday: usize) -> String {
        let names = at(&self.dates, &["days", form, width]);
        names.and_then(|names| names.get(weekday)).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn era(&self, era: usize, count: usize) -> String {
        let width = match count {
            4 => "long",
            5 => "narrow",
            _ => "short",
        };
        let own = self.calendar.as_ref().unwrap_or(&self.dates);
        text(own, &["eras", width, &era.to_string()]).unwrap_or_default().to_owned()
    }

    fn period(&self, letter: char, width: &str, moment: &Moment) -> String {
        let halves = if moment.hour < 12 { "am" } else { "pm" };
        let name = |key: &str| {
            let of = |form: &str| text(&self.dates, &["periods", form, width, key]).map(str::to_owned);
            of("format").or_else(|| of("stand-alone"))
        };
        let exact = moment.minute == 0 && moment.second == 0;
        let point = match moment.hour {
            0 if exact => Some("midnight"),
            12 if exact => Some("noon"),
            _ => None,
        };
        if letter != 'a'
            && let Some(point) = point
            && self.periods.get(point).is_some()
            && let Some(found) = name(point)
        {
            return found;
        }
        if letter == 'B' {
            let rules = self.periods.as_object().into_iter().flatten();
            for (key, rule) in rules {
                let (Some(from), Some(before)) =
                    (rule.get(0).and_then(Value::as_i64), rule.get(1).and_then(Value::as_i64))
                else {
                    continue;
                };
                if before < 0 {
                    continue;
                }
                let inside = if from < before {
                    (from..before).contains(&moment.hour)
                } else {
                    moment.hour >= from || moment.hour < before
                };
                if inside && let Some(found) = name(key) {
                    return found;
                }
            }
        }
        name(halves).unwrap_or_default()
    }
}
