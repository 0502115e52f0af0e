//! What the properties draw: JSON values, arithmetic with its known result, messages, names.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Any JSON value whose numbers survive a trip through a double.
pub(super) fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1000i32..1000).prop_map(|n| json!(f64::from(n) + 0.5)),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("\u{2028}\u{0}\"\\</script>${x}`")),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key(), inner), 0..5).prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z]{1,6}", 1 => "\\PC{0,6}", 1 => Just("__proto__".to_owned()), 1 => Just("then".to_owned()), 1 => Just("7".to_owned())]
}

/// An arithmetic expression over `input.a` and `input.b`, as text, with a way to know its value.
#[derive(Debug, Clone)]
pub(super) enum Sum {
    Number(i16),
    A,
    B,
    Add(Box<Sum>, Box<Sum>),
    Subtract(Box<Sum>, Box<Sum>),
    Multiply(Box<Sum>, Box<Sum>),
    Larger(Box<Sum>, Box<Sum>),
}

impl Sum {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(n) => format!("({n})"),
            Self::A => "input.a".to_owned(),
            Self::B => "input['b']".to_owned(),
            Self::Add(l, r) => format!("({} + {})", l.text(), r.text()),
            Self::Subtract(l, r) => format!("({} - {})", l.text(), r.text()),
            Self::Multiply(l, r) => format!("({} * {})", l.text(), r.text()),
            Self::Larger(l, r) => format!("({l} > {r} ? {l} : {r})", l = l.text(), r = r.text()),
        }
    }

    pub(super) fn value(&self, a: i16, b: i16) -> f64 {
        match self {
            Self::Number(n) => f64::from(*n),
            Self::A => f64::from(a),
            Self::B => f64::from(b),
            Self::Add(l, r) => l.value(a, b) + r.value(a, b),
            Self::Subtract(l, r) => l.value(a, b) - r.value(a, b),
            Self::Multiply(l, r) => l.value(a, b) * r.value(a, b),
            Self::Larger(l, r) => {
                let (l, r) = (l.value(a, b), r.value(a, b));
                if l > r { l } else { r }
            }
        }
    }
}

pub(super) fn sum() -> impl Strategy<Value = Sum> {
    let leaf = prop_oneof![(-99i16..99).prop_map(Sum::Number), Just(Sum::A), Just(Sum::B)];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let pair = (inner.clone(), inner).prop_map(|(l, r)| (Box::new(l), Box::new(r)));
        (pair, 0..4u8).prop_map(|((l, r), kind)| match kind {
            0 => Sum::Add(l, r),
            1 => Sum::Subtract(l, r),
            2 => Sum::Multiply(l, r),
            _ => Sum::Larger(l, r),
        })
    })
}

/// A message that can stand between quotes.
pub(super) fn message() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 äöü€_.:-]{1,24}"
}

/// A name that no engine has.
pub(super) fn name() -> impl Strategy<Value = String> {
    "zz[a-z]{3,8}"
}
