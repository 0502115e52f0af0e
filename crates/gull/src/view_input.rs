//! What a person does, as calls of the browser's protocol.

use cove_runtime_api::{KeyEvent, MouseButton, MouseEvent, ViewWord};
use serde_json::{Value, json};

/// Places beyond this are on no page that can be shown.
const MAX_PLACE: f64 = 16_384.0;

/// The call for a word that goes straight to the page; none for other words.
pub(crate) fn call(word: &ViewWord) -> Option<(&'static str, Value)> {
    Some(match word {
        ViewWord::Mouse { event, x, y, button, clicks, dx, dy, modifiers } => {
            let kind = match event {
                MouseEvent::Down => "mousePressed",
                MouseEvent::Up => "mouseReleased",
                MouseEvent::Move => "mouseMoved",
                MouseEvent::Wheel => "mouseWheel",
            };
            // Which are down meanwhile: a drag is a move with one of them.
            let buttons = match (event, button) {
                (MouseEvent::Down | MouseEvent::Move, MouseButton::Left) => 1,
                (MouseEvent::Down | MouseEvent::Move, MouseButton::Right) => 2,
                (MouseEvent::Down | MouseEvent::Move, MouseButton::Middle) => 4,
                _ => 0,
            };
            let button = match button {
                MouseButton::None => "none",
                MouseButton::Left => "left",
                MouseButton::Middle => "middle",
                MouseButton::Right => "right",
            };
            let params = json!({
                "buttons": buttons, "type": kind, "x": bounded(*x, 0.0), "y": bounded(*y, 0.0), "button": button, "clickCount": (*clicks).min(3),
                "deltaX": bounded(*dx, -MAX_PLACE), "deltaY": bounded(*dy, -MAX_PLACE), "modifiers": modifiers & 15,
            });
            ("Input.dispatchMouseEvent", params)
        }
        ViewWord::Key { event, key, code, key_code, modifiers } => {
            let text = typed(key, *modifiers);
            let kind = match (event, &text) {
                (KeyEvent::Up, _) => "keyUp",
                (KeyEvent::Down, Some(_)) => "keyDown",
                (KeyEvent::Down, None) => "rawKeyDown",
            };
            let mut params = json!({
                "type": kind, "key": key, "code": code, "modifiers": modifiers & 15,
                "windowsVirtualKeyCode": key_code, "nativeVirtualKeyCode": key_code,
            });
            if let (KeyEvent::Down, Some(text)) = (event, text) {
                params["text"] = text.into();
            }
            ("Input.dispatchKeyEvent", params)
        }
        ViewWord::Text { text } => ("Input.insertText", json!({ "text": text })),
        ViewWord::Reload => ("Page.reload", json!({})),
        ViewWord::Dialog { accept, text } => {
            ("Page.handleJavaScriptDialog", json!({ "accept": accept, "promptText": text }))
        }
        _ => return None,
    })
}

/// What a key writes; none with Ctrl, Alt or Meta, and for keys that write nothing.
fn typed(key: &str, modifiers: u8) -> Option<&str> {
    let mut letters = key.chars();
    match (key, letters.next(), letters.next()) {
        ("Enter", ..) => Some("\r"),
        (_, Some(letter), None) if modifiers & 7 == 0 && !letter.is_control() => Some(key),
        _ => None,
    }
}

fn bounded(place: f64, least: f64) -> f64 {
    if place.is_finite() { place.clamp(least, MAX_PLACE) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_calls() {
        let key = |key: &str, modifiers| {
            let word = ViewWord::Key {
                event: KeyEvent::Down,
                key: key.to_owned(),
                code: String::new(),
                key_code: 0,
                modifiers,
            };
            call(&word).unwrap().1
        };
        assert_eq!((key("a", 0)["type"].as_str(), key("a", 0)["text"].as_str()), (Some("keyDown"), Some("a")));
        assert_eq!(key("Enter", 0)["text"], "\r");
        // A shortcut writes nothing, nor does a key without a letter.
        assert_eq!((key("a", 2)["type"].as_str(), key("a", 2).get("text")), (Some("rawKeyDown"), None));
        assert_eq!(key("ArrowLeft", 0)["type"], "rawKeyDown");
        let far = ViewWord::Mouse {
            event: MouseEvent::Wheel,
            x: f64::NAN,
            y: 1e300,
            button: MouseButton::None,
            clicks: 9,
            dx: -1e300,
            dy: 0.0,
            modifiers: 255,
        };
        let params = call(&far).unwrap().1;
        assert_eq!((params["x"].as_f64(), params["y"].as_f64()), (Some(0.0), Some(MAX_PLACE)));
        assert_eq!((params["deltaX"].as_f64(), params["clickCount"].as_u64()), (Some(-MAX_PLACE), Some(3)));
        assert_eq!(call(&ViewWord::Take), None);
    }
}
