//! What serde says of a value that does not fit its type, taken apart: serde gives it as a sentence only.

/// Why a value does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit<'a> {
    /// This field must be there, and is not.
    Missing(&'a str),
    /// A word that the field does not know; both in backticks, as serde writes them.
    UnknownWord {
        /// What was given.
        given: &'a str,
        /// What it knows.
        expected: &'a str,
    },
    /// A value of another type, or one that is not allowed.
    Wrong {
        /// What was given.
        given: &'a str,
        /// What must be there.
        expected: &'a str,
    },
    /// Anything else, in serde's words.
    Other(&'a str),
}

impl<'a> Misfit<'a> {
    /// Reads serde's sentence, without the place that `serde_json` adds to it.
    pub fn read(said: &'a str) -> Self {
        if let Some(field) = said.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
            return Self::Missing(field);
        }
        let parts = |begin| said.strip_prefix(begin)?.split_once(", expected ");
        if let Some((given, expected)) = parts("unknown variant ") {
            return Self::UnknownWord { given, expected };
        }
        match parts("invalid type: ").or_else(|| parts("invalid value: ")) {
            Some((given, expected)) => Self::Wrong { given, expected },
            None => Self::Other(said),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::Misfit;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code)]
    struct Order {
        size: Size,
        count: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Size {
        Small,
        Large,
    }

    /// By serde's own sentences, so that another version of it with other words is noticed here.
    #[test]
    fn sentences_of_serde_are_taken_apart() {
        let check = |given: Value, expected: Misfit<'_>| {
            let said = serde_json::from_value::<Order>(given).unwrap_err().to_string();
            assert_eq!(Misfit::read(&said), expected, "{said}");
        };
        check(json!({"count": 1}), Misfit::Missing("size"));
        let expected = "`small` or `large`";
        check(json!({"size": "huge", "count": 1}), Misfit::UnknownWord { given: "`huge`", expected });
        check(json!({"size": "small", "count": "a"}), Misfit::Wrong { given: "string \"a\"", expected: "u8" });
        check(json!({"size": "small", "count": 300}), Misfit::Wrong { given: "integer `300`", expected: "u8" });
        assert_eq!(Misfit::read("something else"), Misfit::Other("something else"));
    }
}
