//! What comes in may be anything: there is a text or an error, never a panic, and nothing that grows without a bound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::cell::RefCell;

use cove_intl::{
    Collator, DateFormat, DisplayNames, Granularity, Library, ListFormat, LocaleParts, NumberFormat, PluralFormat,
    RelativeFormat, Segmenter,
};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

thread_local! {
    static LIBRARY: RefCell<Library> = RefCell::new(Library::new());
}

fn with<T>(work: impl FnOnce(&Library) -> T) -> T {
    LIBRARY.with_borrow(|library| work(library))
}

fn spec<S: DeserializeOwned>(value: Value) -> Option<S> {
    serde_json::from_value(value).ok()
}

const KNOWN: &[&str] = &[
    "de",
    "en-US",
    "ar-EG",
    "th-TH",
    "fa",
    "ja-u-ca-japanese",
    "zh-Hant-HK",
    "hi-u-nu-deva",
    "sr-Latn",
    "en-u-hc-h11-kn-kf-upper",
];

fn locale() -> impl Strategy<Value = String> {
    prop_oneof![4 => prop::sample::select(KNOWN).prop_map(str::to_owned), 1 => "[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8}){0,6}", 1 => "\\PC{0,20}"]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[0-9]{1,400}(\\.[0-9]{1,400})?(e-?[0-9]{1,6})?",
        any::<f64>().prop_map(|number| number.to_string()),
        "\\PC{0,12}"
    ]
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(words))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_of_locales(tag in locale()) {
        let _ = cove_intl::canonical(&tag);
        let _ = cove_intl::maximized(&tag);
        let _ = cove_intl::minimized(&tag);
        let _ = LocaleParts::of(&tag);
        with(|library| { let _ = library.supports(&tag); let _ = library.week(&tag); });
    }

    #[test]
    fn numbers(
        tag in locale(), text in number(), style in 0_usize..4, notation in 0_usize..4, sign in 0_usize..5, kind in 0_usize..4, mode in 0_usize..9,
        digits in (0_u8..101, 0_u8..101, 0_u8..30, 0_u8..30, 0_u8..30), increment in 0_u16..6000, long: bool, strip: bool,
    ) {
        let pick = |list: &[&'static str], at: usize| list[at];
        let made = spec(json!({
            "locales": [tag], "style": pick(&["decimal", "percent", "currency", "unit"], style), "currency": "EUR", "unit": "kilometer-per-hour",
            "currencyDisplay": pick(&["symbol", "narrowSymbol", "code", "name"], kind), "accounting": long,
            "notation": pick(&["standard", "scientific", "engineering", "compact"], notation), "compactLong": long,
            "signDisplay": pick(&["auto", "always", "never", "exceptZero", "negative"], sign), "grouping": pick(&["auto", "always", "min2", "never"], kind),
            "rounding": { "kind": pick(&["fractionDigits", "significantDigits", "morePrecision", "lessPrecision"], kind), "integer": digits.4,
                "fraction": [digits.0, digits.1], "significant": [digits.2, digits.3], "increment": increment,
                "mode": pick(&["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"], mode), "strip": strip },
        })).unwrap();
        with(|library| {
            let Ok(format) = NumberFormat::new(library, &made) else { return };
            let _ = format.format(&text);
            let _ = format.range_parts(&text, "5");
            if let Some(plural) = spec(json!({ "ordinal": long, "number": { "locales": ["ar"], "rounding": { "kind": "fractionDigits", "integer": 1,
                "fraction": [0, 3], "significant": [1, 21], "increment": 1, "mode": "halfExpand", "strip": false } } })) {
                let _ = PluralFormat::new(library, &plural).unwrap().select(&text);
            }
        });
    }

    #[test]
    fn dates(
        tag in locale(), zone in prop_oneof![Just("Europe/Berlin".to_owned()), "[+-][0-9]{2}:?[0-9]{2}", "\\PC{0,80}"], start in any::<f64>(), end in -9e15..9e15_f64,
        calendar in word(&["gregory", "persian", "japanese", "roc", "islamic-umalqura", "islamic-civil", "buddhist", "hebrew", "x"]),
        words in (word(&["long", "short", "narrow"]), word(&["long", "narrow"]), word(&["numeric", "2-digit"]), word(&["long", "numeric", "2-digit"])),
        times in (word(&["numeric", "2-digit"]), word(&["numeric"]), word(&["numeric", "2-digit"]), word(&["short", "longGeneric", "shortOffset"])),
        style in word(&["full", "long", "medium", "short"]), hour12 in prop::option::of(any::<bool>()), fraction in prop::option::of(0_u8..9),
    ) {
        let made = spec(json!({
            "locales": [tag], "timeZone": zone, "calendar": calendar, "weekday": words.0, "era": words.1, "year": words.2, "month": words.3, "day": words.2,
            "hour": times.0, "minute": times.1, "second": times.2, "timeZoneName": times.3, "timeStyle": style, "hour12": hour12, "fractionalSecondDigits": fraction,
        })).unwrap();
        with(|library| {
            let Ok(format) = DateFormat::new(library, &made) else { return };
            let _ = format.format(start);
            let _ = format.range_parts(start, end);
            let _ = format.range_parts(end, end + 1e7);
            assert!(format.resolved().is_object());
        });
    }

    #[test]
    fn words(tag in locale(), one in "\\PC{0,60}", other in "\\PC{0,60}", unit in "[a-z]{0,9}", value in number()) {
        with(|library| {
            if let Ok(collator) = Collator::new(library, &spec(json!({ "locales": [tag], "sensitivity": null, "ignorePunctuation": null, "numeric": true, "caseFirst": null })).unwrap()) {
                assert_eq!(collator.compare(&one, &other), collator.compare(&other, &one).reverse());
            }
            for granularity in [Granularity::Grapheme, Granularity::Word, Granularity::Sentence] {
                let Ok(segmenter) = Segmenter::new(library, std::slice::from_ref(&tag), granularity) else { continue };
                let ends = segmenter.segments(&one);
                assert_eq!(ends.last().map_or(0, |last| last.end), one.encode_utf16().count());
            }
            if let Ok(list) = ListFormat::new(library, &spec(json!({ "locales": [tag], "kind": "conjunction", "style": "short" })).unwrap()) {
                assert_eq!(list.parts(&[one.clone(), other.clone(), one.clone()]).iter().filter(|part| part.kind == "element").count(), 3);
            }
            for kind in ["language", "region", "currency"] {
                if let Ok(names) = DisplayNames::new(library, &spec(json!({ "locales": [tag], "kind": kind, "style": "short", "dialect": true })).unwrap()) {
                    let _ = names.of(&one);
                }
            }
            if let Ok(relative) = RelativeFormat::new(library, &spec(json!({ "locales": [tag], "style": "narrow", "auto": true })).unwrap()) {
                let _ = relative.parts(&value, &unit);
            }
            let _ = cove_intl::upper(&one, &tag);
            let _ = cove_intl::lower(&one, &tag);
        });
    }
}
