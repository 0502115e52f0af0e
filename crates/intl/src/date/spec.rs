//! What a date format was asked for.

use serde::Deserialize;

/// The options of `Intl.DateTimeFormat`; which components are shown by default is decided by whoever hands them in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DateSpec {
    pub(crate) locales: Vec<String>,
    pub(crate) calendar: Option<String>,
    pub(crate) numbering_system: Option<String>,
    pub(crate) hour_cycle: Option<HourCycle>,
    pub(crate) hour12: Option<bool>,
    pub(crate) time_zone: Option<String>,
    pub(crate) weekday: Option<String>,
    pub(crate) era: Option<String>,
    pub(crate) year: Option<String>,
    pub(crate) month: Option<String>,
    pub(crate) day: Option<String>,
    pub(crate) day_period: Option<String>,
    pub(crate) hour: Option<String>,
    pub(crate) minute: Option<String>,
    pub(crate) second: Option<String>,
    pub(crate) fractional_second_digits: Option<u8>,
    pub(crate) time_zone_name: Option<String>,
    pub(crate) date_style: Option<Style>,
    pub(crate) time_style: Option<Style>,
}

/// Which hours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HourCycle {
    H11,
    H12,
    H23,
    H24,
}

impl HourCycle {
    pub(crate) fn letter(self) -> char {
        match self {
            Self::H11 => 'K',
            Self::H12 => 'h',
            Self::H23 => 'H',
            Self::H24 => 'k',
        }
    }

    pub(crate) fn of_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'K' => Self::H11,
            'h' => Self::H12,
            'H' => Self::H23,
            'k' => Self::H24,
            _ => return None,
        })
    }

    /// As ECMA-402 calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::H11 => "h11",
            Self::H12 => "h12",
            Self::H23 => "h23",
            Self::H24 => "h24",
        }
    }

    /// Whether the day has twelve hours twice.
    pub(crate) fn is_twelve(self) -> bool {
        matches!(self, Self::H11 | Self::H12)
    }
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Style {
    Full,
    Long,
    Medium,
    Short,
}

impl Style {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Long => "long",
            Self::Medium => "medium",
            Self::Short => "short",
        }
    }
}

impl DateSpec {
    /// The components as a skeleton of CLDR's.
    pub(crate) fn skeleton(&self, hour: char) -> String {
        let mut made = String::new();
        let mut add = |value: &Option<String>, widths: &[(&str, &str)]| {
            let value = value.as_deref().unwrap_or_default();
            made += widths.iter().find(|(name, _)| *name == value).map_or("", |(_, letters)| letters);
        };
        add(&self.weekday, &[("narrow", "EEEEE"), ("long", "EEEE"), ("short", "EEE")]);
        add(&self.era, &[("narrow", "GGGGG"), ("long", "GGGG"), ("short", "GGG")]);
        add(&self.year, &[("2-digit", "yy"), ("numeric", "y")]);
        let month = [("narrow", "MMMMM"), ("long", "MMMM"), ("short", "MMM"), ("2-digit", "MM"), ("numeric", "M")];
        add(&self.month, &month);
        add(&self.day, &[("2-digit", "dd"), ("numeric", "d")]);
        add(&self.day_period, &[("narrow", "BBBBB"), ("long", "BBBB"), ("short", "B")]);
        let (one, two) = (hour.to_string(), format!("{hour}{hour}"));
        add(&self.hour, &[("2-digit", &two), ("numeric", &one)]);
        add(&self.minute, &[("2-digit", "mm"), ("numeric", "m")]);
        add(&self.second, &[("2-digit", "ss"), ("numeric", "s")]);
        let fraction = "SSS".chars().take(usize::from(self.fractional_second_digits.unwrap_or_default()));
        made.extend(fraction);
        let mut add = |value: &Option<String>, widths: &[(&str, &str)]| {
            let value = value.as_deref().unwrap_or_default();
            made += widths.iter().find(|(name, _)| *name == value).map_or("", |(_, letters)| letters);
        };
        add(
            &self.time_zone_name,
            &[
                ("long", "zzzz"),
                ("short", "z"),
                ("longOffset", "OOOO"),
                ("shortOffset", "O"),
                ("longGeneric", "vvvv"),
                ("shortGeneric", "v"),
            ],
        );
        made
    }
}
