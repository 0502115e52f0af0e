//! Ranges of dates: what both ends share is said once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::generator::{Generator, glue};
use super::skeleton::{Item, items};
use super::write::Moment;
use super::{DateFormat, bounded, with_hours};
use crate::data::text;
use crate::error::Result;
use crate::part::{Part, PatternPiece, RangePart, places};

/// Fields and how many letters each has.
type Counts = BTreeMap<char, usize>;

/// Letters that stand for the same field.
fn plain(letter: char) -> char {
    match letter {
        'L' => 'M',
        'c' | 'e' => 'E',
        'K' => 'h',
        'k' => 'H',
        'z' => 'v',
        letter => letter,
    }
}

fn counts(skeleton: &str) -> Counts {
    let fields = items(skeleton).into_iter().filter_map(|item| match item {
        Item::Field(letter, count) => Some((plain(letter), count)),
        Item::Text(_) => None,
    });
    // The half of the day follows from the hours.
    fields.filter(|(letter, _)| *letter != 'a').collect()
}

/// Coarse fields come first.
fn level(letter: char) -> usize {
    "GyMdahms".find(if letter == 'H' { 'h' } else { letter }).unwrap_or(usize::MAX)
}

impl DateFormat {
    /// A range in pieces.
    pub fn range_parts(&self, start: f64, end: f64) -> Result<Vec<RangePart>> {
        let (first, last) = (self.moment(bounded(start)?), self.moment(bounded(end)?));
        let shown = counts(&super::pattern(&self.items));
        let finest = shown.keys().filter(|letter| level(**letter) != usize::MAX).map(|letter| level(*letter)).max();
        // A single moment is written as alone.
        let alone = |part: Part| RangePart {
            part: Part { text: part.text.replace('\u{202f}', " "), ..part },
            source: "shared",
        };
        let single = || self.fill(&self.items, &first).into_iter().map(alone).collect();
        let Some(differs) = difference(&first, &last) else { return Ok(single()) };
        // Halves of the day are seen in the hours.
        let seen = if differs == 'a' { 'h' } else { differs };
        if finest.is_none_or(|finest| finest < level(differs).min(level(seen))) {
            return Ok(single());
        }
        let (date, time): (Counts, Counts) = shown.into_iter().partition(|(letter, _)| "GyMEd".contains(*letter));
        let generator = Generator::new(&self.names.dates, self.generic.as_deref(), &self.symbols.decimal);
        let in_date = level(differs) <= level('d');
        let (pattern, single_items) = match (date.is_empty(), time.is_empty(), in_date) {
            (false, true, _) => (self.interval(&date, differs), self.items.clone()),
            (true, _, false) => (self.interval(&time, differs), self.items.clone()),
            (true, _, true) => {
                let skeleton = format!("yMd{}", letters(&self.items, |_| true));
                let whole = generator.best(&skeleton);
                (None, items(&self.hour_cycle.map_or_else(|| whole.clone(), |cycle| with_hours(&whole, cycle))))
            }
            (false, false, true) => (None, self.items.clone()),
            (false, false, false) => {
                let dates = generator.best(&letters(&self.items, |letter| "GyMEd".contains(plain(letter))));
                let interval = self.interval(&time, differs).or_else(|| {
                    let times = generator.best(&letters(&self.items, |letter| !"GyMEd".contains(plain(letter))));
                    let times = self.hour_cycle.map_or_else(|| times.clone(), |cycle| with_hours(&times, cycle));
                    Some(self.fallback().replace("{0}", &times).replace("{1}", &times))
                });
                let format = text(&self.names.dates, &["join", "medium"]).unwrap_or("{1} {0}");
                (interval.map(|times| glue(format, &dates, &times)), self.items.clone())
            }
        };
        Ok(match pattern {
            Some(pattern) => self.split(&items(&pattern), &first, &last),
            None => self.both(&single_items, &first, &last),
        })
    }

    fn fallback(&self) -> String {
        let own = self.generic.as_deref().unwrap_or(&self.names.dates);
        text(own, &["intervals", "fallback"]).unwrap_or("{0} – {1}").to_owned()
    }

    /// The language's pattern for a range of these fields that differs here.
    fn interval(&self, wanted: &Counts, differs: char) -> Option<String> {
        let own = self.generic.as_deref().unwrap_or(&self.names.dates);
        let table = own.get("intervals")?.as_object()?;
        let key = match differs {
            'h' | 'a' if wanted.contains_key(&'H') => "H",
            'G' => "G",
            'y' => "y",
            'M' => "M",
            'd' => "d",
            'a' => "a",
            'h' => "h",
            'm' => "m",
            _ => return None,
        };
        let find = |wanted: &Counts| {
            let near = |(skeleton, entry): (&String, &Value)| {
                let has = counts(skeleton);
                let distance = distance(wanted, &has)?;
                Some((distance, has, entry.get(key)?.as_str()?.to_owned()))
            };
            table.iter().filter(|(name, _)| *name != "fallback").filter_map(near).min_by_key(|(distance, ..)| *distance)
        };
        let mut wanted = wanted.clone();
        let mut found = find(&wanted);
        if found.is_none() && matches!(differs, 'y' | 'M' | 'd') && !wanted.contains_key(&differs) {
            wanted.insert(differs, 1);
            found = find(&wanted);
        }
        let (_, has, pattern) = found?;
        let widened: Vec<_> = items(&pattern)
            .into_iter()
            .map(|item| match item {
                Item::Field(letter, count) => {
                    let (given, asked) = (has.get(&plain(letter)).copied(), wanted.get(&plain(letter)).copied());
                    let grows = given == Some(count) && asked.is_some_and(|asked| asked > count);
                    Item::Field(letter, if grows { asked.unwrap_or(count) } else { count })
                }
                item => item,
            })
            .collect();
        let pattern = super::pattern(&widened);
        Some(self.hour_cycle.map_or_else(|| pattern.clone(), |cycle| with_hours(&pattern, cycle)))
    }

    /// Both ends as wholes.
    fn both(&self, items: &[Item], first: &Moment, last: &Moment) -> Vec<RangePart> {
        let mut made = Vec::new();
        for place in places(&self.fallback()) {
            match place {
                PatternPiece::Text(text) => {
                    made.push(RangePart { part: Part::literal(text), source: "shared" });
                }
                PatternPiece::Number(0) => {
                    made.extend(
                        self.fill(items, first).into_iter().map(|part| RangePart { part, source: "startRange" }),
                    );
                }
                PatternPiece::Number(_) => {
                    made.extend(self.fill(items, last).into_iter().map(|part| RangePart { part, source: "endRange" }));
                }
            }
        }
        made
    }

    /// A pattern whose second half begins where a field comes again.
    fn split(&self, items: &[Item], first: &Moment, last: &Moment) -> Vec<RangePart> {
        let letter = |item: &Item| match item {
            Item::Field(letter, _) => Some(plain(*letter)),
            Item::Text(_) => None,
        };
        let mut seen = Vec::new();
        let mut half = items.len();
        for (at, item) in items.iter().enumerate() {
            let Some(letter) = letter(item) else { continue };
            if seen.contains(&letter) {
                half = at;
                break;
            }
            seen.push(letter);
        }
        let (before, behind) = items.split_at(half);
        let twice = |item: &Item, others: &[Item]| {
            letter(item).is_some_and(|own| others.iter().any(|other| letter(other) == Some(own)))
        };
        let span = |part: &[Item], others: &[Item]| {
            let from = part.iter().position(|item| twice(item, others));
            let to = part.iter().rposition(|item| twice(item, others));
            from.zip(to)
        };
        let mut made: Vec<RangePart> = Vec::new();
        for (part, others, moment, source) in
            [(before, behind, first, "startRange"), (behind, before, last, "endRange")]
        {
            let inside = span(part, others);
            for (at, item) in part.iter().enumerate() {
                let own = inside.is_some_and(|(from, to)| (from..=to).contains(&at));
                for piece in self.fill(std::slice::from_ref(item), moment) {
                    let source = if own { source } else { "shared" };
                    match made.last_mut() {
                        Some(end) if end.part.kind == "literal" && piece.kind == "literal" && end.source == source => {
                            end.part.text += &piece.text;
                        }
                        _ => made.push(RangePart { part: piece, source }),
                    }
                }
            }
        }
        made
    }
}

fn letters(items: &[Item], wanted: impl Fn(char) -> bool) -> String {
    let fields = items.iter().filter_map(|item| match item {
        Item::Field(letter, count) if wanted(*letter) => Some((*letter, *count)),
        _ => None,
    });
    fields.flat_map(|(letter, count)| std::iter::repeat_n(letter, count)).collect()
}

/// How far two sets of fields are; nothing where one has a field that the other has not.
fn distance(wanted: &Counts, has: &Counts) -> Option<usize> {
    if !wanted.keys().eq(has.keys()) {
        return None;
    }
    let each = wanted.iter().zip(has).map(|((letter, own), (_, other))| {
        let words = *letter == 'M' && (*own > 2) != (*other > 2);
        own.abs_diff(*other) + if words { 0x100 } else { 0 }
    });
    Some(each.sum())
}

/// The coarsest field in which two moments differ.
fn difference(first: &Moment, last: &Moment) -> Option<char> {
    let fields = |moment: &Moment| {
        let day = moment.day;
        let half = moment.hour / 12;
        [
            ('G', i64::try_from(day.era).unwrap_or_default()),
            ('y', day.year),
            ('M', i64::from(day.month)),
            ('d', i64::from(day.day)),
            ('a', half),
            ('h', moment.hour),
            ('m', moment.minute),
            ('s', moment.second),
        ]
    };
    fields(first).into_iter().zip(fields(last)).find(|(one, other)| one != other).map(|((letter, _), _)| letter)
}
