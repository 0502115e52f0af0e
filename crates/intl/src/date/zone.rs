//! Time zones: their rules, and what languages call them.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use serde_json::Value;

use crate::data::{Library, at, text};
use crate::error::{IntlError, Result};

/// The longest name that is looked at.
const MAX_NAME: usize = 64;

/// A time zone.
#[derive(Debug, Clone)]
pub(crate) struct Zone {
    /// As CLDR calls it.
    pub(crate) name: String,
    rules: TimeZone,
    /// Its common names through time: name, from and to in minutes.
    meta: Vec<(String, i64, i64)>,
}

/// What holds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    /// East of Greenwich.
    pub(crate) offset_seconds: i64,
    pub(crate) summer: bool,
}

impl Zone {
    pub(crate) fn named(library: &Library, name: &str) -> Result<Self> {
        let refused = || IntlError::NoZone(name.chars().take(MAX_NAME).collect());
        if name.len() > MAX_NAME {
            return Err(refused());
        }
        if let Some(offset) = offset_of(name) {
            let rules = TimeZone::fixed(Offset::from_seconds(offset * 60).map_err(|_| refused())?);
            let sign = if offset < 0 { '-' } else { '+' };
            let name = format!("{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60);
            return Ok(Self { name, rules, meta: Vec::new() });
        }
        // Names of files that are no zones.
        if !name.starts_with(|c: char| c.is_ascii_alphabetic())
            || ["posixrules", "localtime", "factory"].iter().any(|bad| name.eq_ignore_ascii_case(bad))
        {
            return Err(refused());
        }
        let rules = TimeZoneDatabase::bundled().get(name).map_err(|_| refused())?;
        let found = rules.iana_name().unwrap_or(name);
        let world = library.world()?;
        let name = match text(&world, &["links", found]).unwrap_or(found) {
            "Etc/UTC" | "Etc/GMT" | "GMT" | "UTC" | "Etc/UCT" | "Zulu" | "UCT" | "Universal" | "Greenwich" => "UTC",
            name => name,
        };
        let uses = at(&world, &["meta", name]).and_then(Value::as_array).into_iter().flatten();
        let meta = uses.filter_map(|use_| {
            Some((use_.get(0)?.as_str()?.to_owned(), use_.get(1)?.as_i64()?, use_.get(2)?.as_i64()?))
        });
        Ok(Self { name: name.to_owned(), rules, meta: meta.collect() })
    }

    /// What holds at a moment, in milliseconds since 1970.
    pub(crate) fn at(&self, millis: i64) -> Hold {
        let bounded = millis.clamp(Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
        let Ok(moment) = Timestamp::from_millisecond(bounded) else { return Hold { offset_seconds: 0, summer: false } };
        let info = self.rules.to_offset_info(moment);
        let offset_seconds = i64::from(info.offset().seconds());
        // Ireland says that its winter is the exception.
        let summer = if self.name == "Europe/Dublin" { offset_seconds > 0 } else { info.dst().is_dst() };
        Hold { offset_seconds, summer }
    }

    /// Its name at a moment, in a language, in one of CLDR's forms (`z`, `O`, `v`).
    pub(crate) fn called(
        &self,
        names: &Value,
        digits: impl Fn(&str) -> String,
        millis: i64,
        letter: char,
        count: usize,
    ) -> String {
        let hold = self.at(millis);
        let long = count >= 4;
        let width = if long { "long" } else { "short" };
        let kinds: &[&str] = match (letter, hold.summer) {
            ('z', true) => &["daylight"],
            ('z', false) => &["standard"],
            ('v', _) => &["generic", "standard"],
            _ => &[],
        };
        let key = if self.name == "UTC" { "Etc/UTC" } else { &self.name };
        let minutes = millis.div_euclid(60_000);
        let meta =
            self.meta.iter().find(|(_, from, to)| (*from..*to).contains(&minutes)).map(|(name, ..)| name.as_str());
        for kind in kinds {
            let own = text(names, &["zones", key, width, kind]);
            if let Some(found) = own.or_else(|| text(names, &["meta", meta?, width, kind])) {
                return found.to_owned();
            }
        }
        offset_name(names, digits, hold.offset_seconds, long)
    }
}

/// `GMT+5:30`.
fn offset_name(names: &Value, digits: impl Fn(&str) -> String, seconds: i64, long: bool) -> String {
    if seconds == 0 {
        return text(names, &["zero"]).unwrap_or("GMT").to_owned();
    }
    let formats = text(names, &["hour"]).unwrap_or("+HH:mm;-HH:mm");
    let (positive, negative) = formats.split_once(';').unwrap_or((formats, formats));
    let format = if seconds < 0 { negative } else { positive };
    let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
    let mark: String =
        format.chars().skip_while(|c| *c != 'H').skip_while(|c| *c == 'H').take_while(|c| *c != 'm').collect();
    let sign: String = format.chars().take_while(|c| *c != 'H').collect();
    let mut behind: String = format.chars().skip_while(|c| *c != 'm').skip_while(|c| *c == 'm').collect();
    let mut made = if long { digits(&format!("{hours:02}")) } else { digits(&hours.to_string()) };
    if long || minutes != 0 || rest != 0 {
        made += &mark;
        made += &digits(&format!("{minutes:02}"));
    } else {
        behind.clear();
    }
    if rest != 0 {
        made += &mark;
        made += &digits(&format!("{rest:02}"));
    }
    text(names, &["gmt"]).unwrap_or("GMT{0}").replace("{0}", &format!("{sign}{made}{behind}"))
}

/// `+05:30` in minutes.
fn offset_of(name: &str) -> Option<i32> {
    let sign = match name.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let rest = name.get(1..)?;
    let (hours, minutes) = match rest.len() {
        2 => (rest, "00"),
        4 => rest.split_at_checked(2)?,
        5 => rest.split_once(':')?,
        _ => return None,
    };
    if hours.len() != 2 || minutes.len() != 2 || !(hours.bytes().chain(minutes.bytes()).all(|b| b.is_ascii_digit())) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}
