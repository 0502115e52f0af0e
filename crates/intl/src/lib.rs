//! Languages and regions: numbers, dates, lists, names, the order of texts and the boundaries in them.
//!
//! Data of CLDR (`data/locales.bin`, written by `scripts/intl-data`) and of ICU4X is compiled in; no file is opened, no clock
//! is asked and no JavaScript engine is known here. What ICU4X has and keeps stable is ICU4X's: plural rules, order, boundaries,
//! case, calendars, canonical names of locales. Its dates know no free choice of components, and its currencies and units are
//! experiments; these are made here from CLDR's patterns, as the specification of CLDR (UTS #35) says.
//!
//! Every text that comes in may be hostile: lengths are bounded, and what is not understood is an error.

mod calendar;
mod case;
mod collate;
mod data;
mod date;
mod error;
mod list;
mod locale;
mod names;
mod number;
mod part;
mod plural;
mod relative;
mod segment;

pub use case::{lower, upper};
pub use collate::{Collator, CollatorSpec};
pub use data::Library;
pub use date::{DateFormat, DateSpec};
pub use error::IntlError;
pub use list::{ListFormat, ListSpec};
pub use locale::{LocaleParts, canonical, maximized, minimized};
pub use names::{DisplayNames, NamesSpec};
pub use number::{NumberFormat, NumberSpec};
pub use part::{Part, RangePart};
pub use plural::{PluralFormat, PluralSpec};
pub use relative::{RelativeFormat, RelativeSpec};
pub use segment::{Granularity, Segment, Segmenter};
