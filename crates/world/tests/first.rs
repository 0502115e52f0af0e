//! First light: what every run rests on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use host::Guest;
use serde_json::json;

#[test]
fn a_body_has_a_value_and_a_cell_has_another() {
    let mut guest = Guest::new();
    assert_eq!(guest.body("return 1 + 1").unwrap(), 2);
    assert_eq!(guest.cell("let a = 20; a * 2").unwrap(), 40);
    assert_eq!(guest.cell("a + 1").unwrap(), 21);
    assert_eq!(guest.with_input("return input.a + 1", json!({"a": 1})).unwrap(), 2);
    guest.body("console.log('hi', {a: 1, b: [1, 2]})").unwrap();
    assert_eq!(guest.desk.text(), "hi { a: 1, b: [ 1, 2 ] }");
}
