//! Every message comes out as it went in, and noise comes out as an error.

use cove_core::FaultKind;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinity", |n| n.is_finite()).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..6).prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

proptest! {
    #[test]
    fn requests_survive(code in "(?s).{0,200}", cell: bool, input in prop::option::of(values()), ops: Option<u64>, timeout_ms: u64, inspect: bool) {
        let shape = if cell { RunShape::Cell } else { RunShape::FunctionBody };
        let input = input.filter(|_| !cell);
        let request = RunRequest { shape, input, max_operations: ops, timeout_ms, inspect, ..RunRequest::new(code) };
        let mut bytes = Vec::new();
        encode_request(&request, &mut bytes);
        prop_assert_eq!(decode_request(&bytes), Ok(request));
    }

    #[test]
    fn reports_survive(value in values(), failed: bool, text in ".{0,40}", operations: u64, usable: bool) {
        let result = match failed {
            true => Err(Fault::new(FaultKind::Exception, text).with("value", value)),
            false => Ok(Finished {
                value,
                shown: usable.then(|| text.clone()),
                is_final_answer: usable,
                canvas_error: Some(PictureFailure::drawing(text)),
                ..Finished::default()
            }),
        };
        let mut report = RunReport::new(result, if usable { SessionFate::Usable } else { SessionFate::Lost });
        (report.usage.operations, report.usage.memory_bytes) = (operations, 7);
        let (mut bytes, rest) = report_parts(report.clone());
        bytes.extend_from_slice(&rest);
        prop_assert_eq!(decode_report(&bytes), Ok(report));
    }

    #[test]
    fn calls_and_answers_survive(id: u64, name in "[a-z]{0,20}", text in "(?s).{0,100}", code in prop::option::of("[a-z]{1,9}")) {
        let call = Call { id, name: &name, args_json: &text };
        let mut bytes = call.head();
        bytes.extend_from_slice(text.as_bytes());
        prop_assert_eq!(decode_call(&bytes), Ok(call));
        for answer in [ToolReply::Value(text.clone()), ToolReply::Failure { message: text.clone(), code }] {
            let mut bytes = Vec::new();
            encode_answer(id, &answer, &mut bytes);
            prop_assert_eq!(decode_answer(&bytes), Some((id, answer)));
        }
    }

    #[test]
    fn setups_survive(seed: [u8; 32], at: i64, random: u64, text in ".{0,30}", network: bool) {
        let setup = cove_world::Setup {
            limits: cove_core::Limits::EXECUTOR,
            clock: cove_core::Clock::Fixed(at),
            random: cove_core::Random::Seeded(random),
            seed,
            imports: cove_core::ImportPolicy { authorized: vec![text.clone()], modules: [(text.clone(), text)].into() },
            network,
            log_levels: LEVELS.to_vec(),
        };
        let bytes = serde_json::to_vec(&setup).unwrap();
        prop_assert_eq!(serde_json::from_slice::<cove_world::Setup>(&bytes).unwrap(), setup);
    }

    /// No payload that a child could send makes the host panic.
    #[test]
    fn noise_is_no_message(noise in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode_call(&noise);
        let _ = decode_picture(&noise);
        let _ = decode_report(&noise);
        let _ = decode_lines(&noise, drop);
    }
}

#[test]
fn lines_and_pictures_survive() {
    let mut bytes = Vec::new();
    let lines = LEVELS.map(|level| LogLine { level, text: format!("{level:?} ä\n2") });
    for line in &lines {
        bytes.extend_from_slice(&line_head(line.level, &line.text));
        bytes.extend_from_slice(line.text.as_bytes());
    }
    let mut seen = Vec::new();
    decode_lines(&bytes, |line| seen.push(line)).unwrap();
    assert_eq!(seen, lines);
    for name in [None, Some(""), Some("a.png")] {
        let mut bytes = picture_head(name, 3, 4);
        bytes.extend_from_slice(b"png");
        let picture = decode_picture(&bytes).unwrap();
        assert_eq!(
            (picture.name.as_deref(), picture.width, picture.height, picture.png),
            (name, 3, 4, b"png".to_vec())
        );
    }
}

/// `null` as input is not the same as none.
#[test]
fn an_input_of_null_stays_null() {
    for input in [None, Some(Value::Null), Some(json!([null]))] {
        let mut bytes = Vec::new();
        encode_request(&RunRequest { input: input.clone(), ..RunRequest::new("") }, &mut bytes);
        assert_eq!(decode_request(&bytes).unwrap().input, input);
    }
}
