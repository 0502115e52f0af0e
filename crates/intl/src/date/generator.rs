//! The best pattern of a language for a skeleton (UTS #35, "Matching Skeletons").

use serde_json::Value;

use super::skeleton::{
    DAY_PERIOD, Distance, FIELDS, FRACTION, HOUR, Item, MINUTE, MONTH, SECOND, Skeleton, WEEKDAY, YEAR, classify,
    items, pattern,
};
use crate::data::{at, text};

/// What CLDR calls the fields where something is appended.
const APPENDED: [&str; FIELDS] = [
    "Era",
    "Year",
    "Quarter",
    "Month",
    "Week",
    "Week",
    "Day-Of-Week",
    "Day",
    "Day-Of-Week",
    "Day",
    "Hour",
    "Hour",
    "Minute",
    "Second",
    "Second",
    "Timezone",
];
const NAMES: [&str; FIELDS] = [
    "era",
    "year",
    "quarter",
    "month",
    "week",
    "week",
    "weekday",
    "day",
    "weekday",
    "day",
    "dayperiod",
    "hour",
    "minute",
    "second",
    "second",
    "zone",
];

struct Entry {
    skeleton: Skeleton,
    base: String,
    pattern: String,
    /// The skeleton came with the pattern instead of being read from it.
    specified: bool,
}

/// The patterns of one language and calendar.
pub(crate) struct Generator<'a> {
    dates: &'a Value,
    entries: Vec<Entry>,
    decimal: String,
}

impl<'a> Generator<'a> {
    /// From the section of dates; `own` is that of the calendar where it is not the Gregorian one.
    pub(crate) fn new(dates: &'a Value, own: Option<&Value>, decimal: &str) -> Self {
        let mut made = Self { dates, entries: Vec::new(), decimal: decimal.to_owned() };
        for letter in "GyQMwWEdDFaHmsSv".chars() {
            made.add(&letter.to_string(), None);
        }
        let tree = |name: &str| own.and_then(|own| own.get(name)).or_else(|| dates.get(name));
        for style in ["full", "long", "medium", "short"] {
            for kind in ["date", "time"] {
                if let Some(pattern) = tree(kind).and_then(|tree| text(tree, &[style])) {
                    made.add(pattern, None);
                }
            }
        }
        for (skeleton, pattern) in tree("available").and_then(Value::as_object).into_iter().flatten() {
            if let Some(pattern) = pattern.as_str() {
                made.add(pattern, Some(skeleton));
            }
        }
        // Times are the same in all calendars.
        let usual = own.and(dates.get("available")).and_then(Value::as_object).into_iter().flatten();
        for (skeleton, pattern) in usual.filter(|(skeleton, _)| skeleton.chars().all(|c| "BhHmsv".contains(c))) {
            if let Some(pattern) = pattern.as_str() {
                made.add(pattern, Some(skeleton));
            }
        }
        // Capitals first, as patterns are filed; the order decides between equals.
        made.entries.sort_by_key(|entry| entry.base.chars().next());
        made
    }

    fn add(&mut self, pattern: &str, skeleton: Option<&str>) {
        let specified = skeleton.is_some();
        let skeleton = Skeleton::of(skeleton.unwrap_or(pattern));
        let base = skeleton.base();
        if !specified && self.entries.iter().any(|entry| entry.base == base) {
            return;
        }
        if let Some(same) = self.entries.iter_mut().find(|entry| entry.base == base && entry.skeleton == skeleton) {
            if !same.specified {
                pattern.clone_into(&mut same.pattern);
                same.specified = true;
            }
            return;
        }
        self.entries.push(Entry { skeleton, base, pattern: pattern.to_owned(), specified });
    }

    /// The best pattern.
    pub(crate) fn best(&self, skeleton: &str) -> String {
        let wanted = Skeleton::of(skeleton);
        let mask = wanted.mask();
        let (entry, distance) = self.nearest(&wanted, mask);
        if let Some(entry) = entry
            && distance.missing == 0
            && distance.extra == 0
        {
            return self.adjusted(&entry.pattern, entry, &wanted, false);
        }
        let dates = (1 << DAY_PERIOD) - 1;
        let date = self.appended(&wanted, mask & dates);
        let time = self.appended(&wanted, mask & !dates);
        match (date, time) {
            (Some(date), Some(time)) => {
                let style = match wanted.base_count(MONTH) {
                    4 if wanted.kinds[WEEKDAY] != 0 => "full",
                    4 => "long",
                    3 => "medium",
                    _ => "short",
                };
                glue(text(self.dates, &["glue", style]).unwrap_or("{1} {0}"), &date, &time)
            }
            (one, other) => one.or(other).unwrap_or_default(),
        }
    }

    fn nearest(&self, wanted: &Skeleton, mask: u32) -> (Option<&Entry>, Distance) {
        let mut best: (Option<&Entry>, Distance) = (None, Distance { length: i32::MAX, ..Distance::default() });
        for entry in &self.entries {
            let distance = wanted.distance(&entry.skeleton, mask);
            let closer = distance.length < best.1.length;
            if closer || distance.length == best.1.length && best.1.missing < distance.missing {
                best = (Some(entry), distance);
                if distance.length == 0 {
                    break;
                }
            }
        }
        best
    }

    /// A pattern for some of the fields, made of several where no single one has them all.
    fn appended(&self, wanted: &Skeleton, mask: u32) -> Option<String> {
        if mask == 0 {
            return None;
        }
        let (entry, mut distance) = self.nearest(wanted, mask);
        let entry = entry?;
        let mut made = self.adjusted(&entry.pattern, entry, wanted, false);
        let mut last = 0;
        while distance.missing != 0 && distance.missing != last {
            let fraction = 1 << FRACTION;
            if distance.missing & (fraction | 1 << SECOND) == fraction && mask & 1 << SECOND != 0 {
                made = self.adjusted(&made, entry, wanted, true);
                distance.missing &= !fraction;
                continue;
            }
            let before = distance.missing;
            let (entry, next) = self.nearest(wanted, before);
            let entry = entry?;
            let more = self.adjusted(&entry.pattern, entry, wanted, false);
            let found = before & !next.missing;
            if found != 0 {
                let field = usize::try_from(found.ilog2()).unwrap_or_default();
                let format = text(self.dates, &["append", APPENDED[field]]).unwrap_or("{0} {1}");
                let name = at(self.dates, &["fields", NAMES[field]]).and_then(Value::as_str).unwrap_or_default();
                made = format.replace("{0}", &made).replace("{1}", &more).replace("{2}", &format!("'{name}'"));
            }
            last = before;
            distance = next;
        }
        Some(made)
    }

    /// Gives the fields of a pattern the widths that were asked for.
    fn adjusted(&self, from: &str, entry: &Entry, wanted: &Skeleton, with_fraction: bool) -> String {
        let mut made = Vec::new();
        for item in items(from) {
            let Item::Field(letter, count) = item else {
                made.push(item);
                continue;
            };
            let Some((field, kind, _)) = classify(letter, count) else {
                made.push(Item::Field(letter, count));
                continue;
            };
            if with_fraction && field == SECOND {
                made.push(Item::Field(letter, count));
                made.push(Item::Text(self.decimal.clone()));
                made.push(Item::Field('S', wanted.letters[FRACTION].1));
                continue;
            }
            if wanted.kinds[field] == 0 {
                made.push(Item::Field(letter, count));
                continue;
            }
            let (asked, mut width) = wanted.letters[field];
            if asked == 'E' && width < 3 {
                width = 3;
            }
            let requested = width;
            if matches!(field, MINUTE | SECOND) {
                width = count;
            } else if entry.specified && asked != 'c' && asked != 'e' {
                let given = entry.skeleton.letters[field].1;
                let given = if asked == 'E' && given != 0 { given.max(3) } else { given };
                let (is_number, asks_number) = (kind > 0, wanted.kinds[field] > 0);
                if given == requested || is_number != asks_number {
                    width = count;
                }
            }
            let keeps = matches!(field, HOUR | MONTH | WEEKDAY) || field == YEAR && asked != 'Y';
            let mut letter = if keeps { letter } else { asked };
            if letter == 'E' && width < 3 {
                letter = 'e';
            }
            made.push(Item::Field(letter, width));
        }
        pattern(&made)
    }
}

/// Date and time together.
pub(crate) fn glue(format: &str, date: &str, time: &str) -> String {
    // In two steps, so that braces in a pattern stay what they are.
    match format.split_once("{1}") {
        Some((before, behind)) => format!("{}{date}{}", before.replace("{0}", time), behind.replace("{0}", time)),
        None => format.replace("{0}", time),
    }
}
