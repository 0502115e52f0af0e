//! What a JSON text takes of the host's memory once it is read.
//!
//! A list of a million zeros has two million letters and takes eighty million bytes: a limit on letters is none on memory.
//! A guest writes such a text from a few kilobytes of its own, because one array may stand in another a thousand times.

use serde_json::Value;

/// A member of an object: its name, its place in the order, its place in the index.
const MEMBER_BYTES: usize = size_of::<String>() + 4 * size_of::<usize>();

/// The weight in bytes: the letters, and what holds the values. Never more than the truth, and at least a third of it (a
/// list that grows has room to spare, and is copied while it grows).
pub(crate) fn weight(json: &[u8]) -> usize {
    let (mut values, mut members) = (1_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            // An opening bracket counts for the first thing inside; an empty list is a little too heavy.
            b',' | b'[' | b'{' => values += 1,
            b':' => members += 1,
            _ => {}
        }
    }
    json.len() + values.saturating_mul(size_of::<Value>()) + members.saturating_mul(MEMBER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: usize = size_of::<Value>();

    #[test]
    fn values_weigh_more_than_letters() {
        let check = |json: &str, values: usize, members: usize| {
            assert_eq!(weight(json.as_bytes()), json.len() + values * VALUE + members * MEMBER_BYTES, "{json}");
        };
        check("1", 1, 0);
        check("[0,0,0]", 4, 0);
        check(r#"{"a":1,"b":[2]}"#, 4, 2);
        check(r#"["a,b,[c]:{d}"]"#, 2, 0);
        check(r#"["a\",\"b\\",1]"#, 3, 0);
    }

    #[test]
    fn a_long_text_is_light_and_a_long_list_heavy() {
        let text = format!("[{:?}]", ",".repeat(1 << 20));
        let list = format!("[{}0]", "0,".repeat(1 << 19));
        assert!(weight(text.as_bytes()) < (1 << 20) + 1000);
        assert!(weight(list.as_bytes()) > VALUE << 19);
    }
}
