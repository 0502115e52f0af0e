//! From a JavaScript value to the JSON that leaves the world: one round trip, with limits, through functions that no
//! guest code can replace.

use cove_core::{Fault, NoJson, shorten_shown};
use rquickjs::{Ctx, Value};

use crate::blame;
use crate::raw;
use crate::state::State;

/// Deepest nesting that a result may have: what comes after this world parses JSON with a limit of 128, and wraps the
/// value a few levels deep.
const MAX_DEPTH: usize = 100;

/// The JSON-safe value: `undefined`, functions and symbols are `null`.
pub(crate) fn value_of<'js>(ctx: &Ctx<'js>, state: &State, value: &Value<'js>) -> Result<serde_json::Value, Fault> {
    let text = match raw::json_text(value) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(serde_json::Value::Null),
        Err(_) => {
            let thrown = ctx.catch();
            if state.is_stopped() {
                return Err(blame::stopped(state));
            }
            let why = blame::sentence(ctx, state, &thrown);
            return Err(Fault::not_serializable(&why, blame::no_json(&why)));
        }
    };
    let most = state.limits.get().max_result_chars;
    // Bytes are never fewer than characters, so the count is only made where it can matter.
    if text.len() as u64 > most {
        let length = text.chars().count() as u64;
        if length > most {
            return Err(Fault::result_too_large(most, length));
        }
    }
    parse(&text)
}

/// The value as Node's REPL shows it. Runs none of the guest's code, so it cannot fail but by a limit.
pub(crate) fn shown<'js>(ctx: &Ctx<'js>, state: &State, value: &Value<'js>) -> Result<String, Fault> {
    let text = state.kit(ctx, "inspect").and_then(|inspect| inspect.call::<_, Value<'js>>((value.clone(),)));
    match text.map(|text| raw::text(&text)) {
        Ok(Some(text)) => Ok(shorten_shown(text, state.limits.get().max_result_chars)),
        Ok(None) | Err(_) => {
            ctx.catch();
            if state.is_stopped() {
                return Err(blame::stopped(state));
            }
            Ok("[value that cannot be shown]".to_owned())
        }
    }
}

/// What of a value JSON has no form for, in sentences, each with what to write instead.
pub(crate) fn lost<'js>(ctx: &Ctx<'js>, state: &State, value: &Value<'js>, cell: bool) -> Vec<String> {
    // Texts, whole numbers and the like are what they are.
    if !(value.is_object() || value.is_float() || value.is_symbol()) {
        return Vec::new();
    }
    let told = state.kit(ctx, "lost").and_then(|lost| lost.call::<_, Vec<String>>((value.clone(), cell)));
    told.unwrap_or_else(|_| {
        ctx.catch();
        Vec::new()
    })
}

fn parse(text: &str) -> Result<serde_json::Value, Fault> {
    if depth(text) > MAX_DEPTH {
        return Err(Fault::not_serializable(&format!("it is nested deeper than {MAX_DEPTH} levels"), NoJson::Other));
    }
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&without_lone_surrogates(text)))
        .map_err(|error| Fault::not_serializable(&error.to_string(), NoJson::Other))
}

/// Brackets outside strings, at their deepest.
fn depth(text: &str) -> usize {
    let (mut now, mut most, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// JavaScript writes a lone surrogate as `\ud800`; strict JSON readers refuse it.
fn without_lone_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        if char != '\\' {
            out.push(char);
            at += char.len_utf8();
            continue;
        }
        let step = match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                at += 6;
                continue;
            }
            (Some(_), _) => 6,
            // An escape of two characters, the second of which may be anything.
            (None, _) => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&text[at..at + step]);
        at += step;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let check = |text: &str, expected: &str| assert_eq!(parse(text).unwrap(), expected, "{text}");
        check(r#""\ud800""#, "\u{FFFD}");
        check(r#""a\udc00b""#, "a\u{FFFD}b");
        check(r#""\ud83d\ude00\ud83d""#, "😀\u{FFFD}");
        check(r#""\\ud800""#, "\\ud800");
        check(r#""\"\ud800\n""#, "\"\u{FFFD}\n");
    }

    #[test]
    fn depth_ignores_strings() {
        assert_eq!(depth(r#"[{"a":"[[[\"["},[1]]"#), 2);
        assert!(parse(&("[".repeat(101) + &"]".repeat(101))).is_err());
        assert!(parse(&("[".repeat(100) + &"]".repeat(100))).is_ok());
    }
}
