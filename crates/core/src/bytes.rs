//! Bytes inside JSON: `{"$bytes": "<base64>"}`, the one form in which a `Uint8Array` crosses the tool bridge.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The only key of an object that stands for bytes.
pub(crate) const BYTES_KEY: &str = "$bytes";

/// Wraps bytes for the bridge.
pub fn bytes_to_json(bytes: &[u8]) -> Value {
    json!({ BYTES_KEY: STANDARD.encode(bytes) })
}

/// The bytes that a JSON value stands for, or `None` when it is any other value.
pub fn bytes_from_json(value: &Value) -> Option<Vec<u8>> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    STANDARD.decode(object.get(BYTES_KEY)?.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_survive_the_bridge(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(bytes_from_json(&bytes_to_json(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn other_values_are_not_bytes() {
        assert_eq!(bytes_to_json(b"hi"), json!({"$bytes": "aGk="}));
        for other in [
            json!(1),
            json!({"$bytes": 1}),
            json!({"$bytes": "a"}),
            json!({"$bytes": "?aaa"}),
            json!({"$bytes": "aGk=", "x": 1}),
        ] {
            assert_eq!(bytes_from_json(&other), None, "{other}");
        }
    }
}
