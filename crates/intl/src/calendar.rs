//! Calendars: from a day to its year, month and day.

use icu_calendar::types::RataDie;
use icu_calendar::{AnyCalendarKind, Date, cal};

use crate::error::{IntlError, Result};

/// A calendar that dates can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calendar {
    Gregory,
    Iso,
    Buddhist,
    Japanese,
    Roc,
    Persian,
    UmmAlQura,
    IslamicCivil,
    IslamicTabular,
}

/// The names of all.
pub(crate) const NAMES: [&str; 9] = [
    "buddhist",
    "gregory",
    "islamic-civil",
    "islamic-tbla",
    "islamic-umalqura",
    "iso8601",
    "japanese",
    "persian",
    "roc",
];

/// One that is known elsewhere.
const KNOWN: [&str; 9] =
    ["chinese", "coptic", "dangi", "ethioaa", "ethiopic", "hebrew", "indian", "islamic", "islamic-rgsa"];

impl Calendar {
    /// By its name; nothing for one that nobody knows.
    pub(crate) fn named(name: &str) -> Result<Option<Self>> {
        Ok(Some(match name {
            "gregory" | "gregorian" => Self::Gregory,
            "iso8601" => Self::Iso,
            "buddhist" => Self::Buddhist,
            "japanese" => Self::Japanese,
            "roc" => Self::Roc,
            "persian" => Self::Persian,
            "islamic-umalqura" => Self::UmmAlQura,
            "islamic-civil" | "islamicc" => Self::IslamicCivil,
            "islamic-tbla" => Self::IslamicTabular,
            name if KNOWN.contains(&name) => return Err(IntlError::NoCalendar(name.to_owned())),
            _ => return Ok(None),
        }))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gregory => "gregory",
            Self::Iso => "iso8601",
            Self::Buddhist => "buddhist",
            Self::Japanese => "japanese",
            Self::Roc => "roc",
            Self::Persian => "persian",
            Self::UmmAlQura => "islamic-umalqura",
            Self::IslamicCivil => "islamic-civil",
            Self::IslamicTabular => "islamic-tbla",
        }
    }

    /// Where CLDR has the names of its months and eras, if they are its own.
    pub(crate) fn section(self) -> Option<&'static str> {
        match self {
            Self::Gregory | Self::Iso => None,
            Self::Buddhist => Some("buddhist"),
            Self::Japanese => Some("japanese"),
            Self::Roc => Some("roc"),
            Self::Persian => Some("persian"),
            Self::UmmAlQura | Self::IslamicCivil | Self::IslamicTabular => Some("islamic"),
        }
    }

    /// The date of a day, counted from 1970.
    pub(crate) fn day(self, days: i64) -> Day {
        let (year, month, day) = civil(days);
        let gregorian = |year: i64| if year > 0 { (1, year) } else { (0, 1 - year) };
        let (era, year) = match self {
            Self::Gregory | Self::Iso => gregorian(year),
            Self::Buddhist => (0, year + 543),
            Self::Roc if year > 1911 => (1, year - 1911),
            Self::Roc => (0, 1912 - year),
            Self::Japanese => match JAPANESE.iter().find(|(_, from)| (year, month, day) >= *from) {
                Some((era, (from, ..))) => (*era, year - from + 1),
                None => gregorian(year),
            },
            Self::Persian => return other(days, AnyCalendarKind::Persian),
            Self::UmmAlQura => return other(days, AnyCalendarKind::HijriUmmAlQura),
            Self::IslamicCivil => return other(days, AnyCalendarKind::HijriTabularTypeIIFriday),
            Self::IslamicTabular => return other(days, AnyCalendarKind::HijriTabularTypeIIThursday),
        };
        Day { era, year, month, day }
    }
}

/// The first days of the eras since 1868, the latest first, with their numbers in CLDR.
const JAPANESE: [(usize, (i64, u8, u8)); 5] =
    [(236, (2019, 5, 1)), (235, (1989, 1, 8)), (234, (1926, 12, 25)), (233, (1912, 7, 30)), (232, (1868, 10, 23))];

/// A date in some calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) era: usize,
    pub(crate) year: i64,
    /// From one.
    pub(crate) month: u8,
    pub(crate) day: u8,
}

fn other(days: i64, kind: AnyCalendarKind) -> Day {
    // Days of ICU4X are counted from the first day of the year one.
    const EPOCH: i64 = 719_163;
    let date = Date::from_rata_die(RataDie::new(days + EPOCH), cal::AnyCalendar::new(kind));
    let year = i64::from(date.year().extended_year());
    let month = date.month().ordinal;
    let day = date.day_of_month().0;
    if year > 0 || kind == AnyCalendarKind::Persian {
        Day { era: 0, year, month, day }
    } else {
        Day { era: 1, year: 1 - year, month, day }
    }
}

/// Year, month and day of the Gregorian calendar, also before it was made.
fn civil(days: i64) -> (i64, u8, u8) {
    let shifted = days + 719_468;
    let cycle = shifted.div_euclid(146_097);
    let of_cycle = shifted.rem_euclid(146_097);
    let year = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year + cycle * 400 + i64::from(month <= 2);
    (year, u8::try_from(month).unwrap_or(1), u8::try_from(day).unwrap_or(1))
}
