//! Ranges of numbers: `3–5`, `$3.00 – $5.00`.

use super::NumberFormat;
use crate::error::{IntlError, Result};
use crate::part::{Part, PatternPiece, RangePart, places};

impl NumberFormat {
    /// A range in pieces.
    pub fn range_parts(&self, start: &str, end: &str) -> Result<Vec<RangePart>> {
        if [start, end].iter().any(|number| number.ends_with("NaN")) {
            return Err(IntlError::BadNumber);
        }
        let (first, last) = (self.parts(start)?, self.parts(end)?);
        let shared = |part: Part| RangePart { part, source: "shared" };
        if first == last {
            let mut made = vec![shared(Part::new("approximatelySign", self.symbols.about.clone()))];
            made.extend(first.into_iter().map(shared));
            return Ok(made);
        }
        // What both have at their end is said once, where words stand there: `3–5 m`.
        let is_number = |part: &Part| matches!(part.kind, "integer" | "group" | "decimal" | "fraction");
        let tail = |parts: &[Part]| parts.iter().rposition(is_number).map_or(0, |at| at + 1);
        let (first_tail, last_tail) = (tail(&first), tail(&last));
        let same_tail = first[first_tail..] == last[last_tail..];
        let plain_head = first.first().is_some_and(|part| part.kind != "currency");
        let collapses = same_tail
            && plain_head
            && last[last_tail..]
                .iter()
                .any(|part| part.kind == "unit" || (part.kind == "currency" && first.len() > first_tail + 1));
        let first = if collapses { &first[..first_tail] } else { &first[..] };
        // Signs and words beside the dash get blanks around it.
        let bare = |parts: &[Part]| parts.iter().all(is_number);
        let tight = bare(first) && bare(if collapses { &last[..last_tail] } else { &last });
        let mut made: Vec<RangePart> = Vec::new();
        for place in places(&self.range) {
            match place {
                PatternPiece::Text(text) => {
                    let blank = !tight && !text.starts_with(char::is_whitespace);
                    let text = if blank { format!(" {text} ") } else { text.to_owned() };
                    made.push(shared(Part::literal(text)));
                }
                PatternPiece::Number(0) => {
                    made.extend(first.iter().cloned().map(|part| RangePart { part, source: "startRange" }));
                }
                PatternPiece::Number(_) => made.extend(last.iter().cloned().enumerate().map(|(at, part)| {
                    let source = if collapses && at >= last_tail { "shared" } else { "endRange" };
                    RangePart { part, source }
                })),
            }
        }
        Ok(made)
    }
}
