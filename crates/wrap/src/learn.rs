//! Types of answers, learnt from the answers: for tools that declare none.
//!
//! What is learnt is a guess and is marked as one. Only its shape is kept, never a value.

use serde_json::Value;

use crate::types::property;

/// How deep, how wide, and from how many items of a list.
const MAX_DEPTH: usize = 4;
const MAX_FIELDS: usize = 40;
const MAX_ITEMS: usize = 20;

/// The shape of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Too deep, or nothing is known.
    Unknown,
    /// `string`, `number`, `boolean`, `null`.
    Simple(&'static str),
    /// A list of these; `None`: it was empty.
    List(Option<Box<Shape>>),
    /// An object: its fields, and whether each was always there.
    Object(Vec<(String, bool, Shape)>),
    /// One of these.
    Either(Vec<Shape>),
}

impl Shape {
    /// Of one value.
    pub(crate) fn of(value: &Value) -> Self {
        Self::at(value, 0)
    }

    fn at(value: &Value, depth: usize) -> Self {
        match value {
            Value::Null => Self::Simple("null"),
            Value::Bool(_) => Self::Simple("boolean"),
            Value::Number(_) => Self::Simple("number"),
            Value::String(_) => Self::Simple("string"),
            _ if depth >= MAX_DEPTH => Self::Unknown,
            Value::Array(items) => {
                let items = items.iter().take(MAX_ITEMS).map(|item| Self::at(item, depth + 1));
                Self::List(items.reduce(Self::merged).map(Box::new))
            }
            Value::Object(fields) if fields.len() > MAX_FIELDS => Self::Unknown,
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| (name.clone(), true, Self::at(value, depth + 1));
                Self::Object(fields.iter().map(field).collect())
            }
        }
    }

    /// What both are.
    pub(crate) fn merged(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::List(None), Self::List(some)) | (Self::List(some), Self::List(None)) => Self::List(some),
            (Self::List(Some(one)), Self::List(Some(other))) => Self::List(Some(Box::new(one.merged(*other)))),
            (Self::Object(mut fields), Self::Object(others)) => {
                for (name, always, _) in &mut fields {
                    *always &= others.iter().any(|(other, there, _)| other == name && *there);
                }
                for (name, _, shape) in others {
                    match fields.iter().position(|(known, ..)| *known == name) {
                        Some(at) => {
                            let (_, always, known) = fields.remove(at);
                            fields.insert(at, (name, always, known.merged(shape)));
                        }
                        None if fields.len() < MAX_FIELDS => fields.push((name, false, shape)),
                        None => return Self::Unknown,
                    }
                }
                Self::Object(fields)
            }
            (Self::Either(mut known), other) | (other, Self::Either(mut known)) => {
                let same_kind = known.iter().position(|shape| shape.is_like(&other));
                match same_kind {
                    Some(at) => {
                        let merged = known.remove(at).merged(other);
                        known.insert(at, merged);
                    }
                    None => known.push(other),
                }
                Self::Either(known)
            }
            (one, other) => Self::Either(vec![one, other]),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Simple(one), Self::Simple(other)) => one == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// As TypeScript writes it.
    pub(crate) fn to_type(&self) -> String {
        match self {
            Self::Unknown => "unknown".to_owned(),
            Self::Simple(kind) => (*kind).to_owned(),
            Self::List(None) => "unknown[]".to_owned(),
            Self::List(Some(item)) => match &**item {
                Self::Either(_) => format!("({})[]", item.to_type()),
                item => format!("{}[]", item.to_type()),
            },
            Self::Object(fields) if fields.is_empty() => "{}".to_owned(),
            Self::Object(fields) => {
                let field = |(name, always, shape): &(String, bool, Self)| {
                    format!("{}{}: {}", property(name), if *always { "" } else { "?" }, shape.to_type())
                };
                format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join("; "))
            }
            Self::Either(shapes) => shapes.iter().map(Self::to_type).collect::<Vec<_>>().join(" | "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shapes_grow_with_what_is_seen() {
        let learnt = |values: &[Value]| values.iter().map(Shape::of).reduce(Shape::merged).unwrap().to_type();
        for (values, expected) in [
            (vec![json!("a"), json!("b")], "string"),
            (vec![json!("a"), json!(null), json!("c")], "string | null"),
            (vec![json!([]), json!([{"a": 1}])], "{ a: number }[]"),
            (vec![json!({"a": 1, "b": "x"}), json!({"a": 2, "c": true})], "{ a: number; b?: string; c?: boolean }"),
            (vec![json!([1, "a", 2])], "(number | string)[]"),
            (vec![json!({})], "{}"),
        ] {
            assert_eq!(learnt(&values), expected, "{values:?}");
        }
    }
}
