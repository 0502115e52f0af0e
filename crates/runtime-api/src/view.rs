//! `/view/ws`: a browser as it is seen, over a WebSocket, and a person who takes it over for a while.
//!
//! From the watcher: text frames, each one [`ViewWord`]. To the watcher: text frames, each one [`ViewEvent`], and binary
//! frames, each one picture: a number (4 bytes, big-endian), the page's width and height (2 bytes each), then JPEG. A
//! picture is acknowledged by its number before the next one is sent, so that a slow watcher is sent fewer of them.

use serde::{Deserialize, Serialize};

/// Where a browser is watched.
pub const VIEW_PATH: &str = "/view/ws";

/// The bytes before the JPEG of a picture.
pub const VIEW_HEADER_BYTES: usize = 8;

/// The largest message that a watcher may send: a text to be pasted.
pub const MAX_VIEW_WORD_BYTES: usize = 64 << 10;

/// Whether a watcher may take control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewMode {
    /// False: it may only look.
    pub control: bool,
}

impl ViewMode {
    pub(crate) fn address(self) -> String {
        format!("{VIEW_PATH}?control={}", self.control)
    }
}

/// What a watcher says. All but `ack`, `take` and `give` need control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ViewWord {
    /// This picture was shown: send the next one.
    Ack {
        /// Its number.
        seq: u32,
    },
    /// Asks for control: it is given when the command that runs has ended.
    Take,
    /// Hands control back.
    Give,
    /// The mouse; places are in the page's own pixels.
    Mouse {
        /// What it does.
        event: MouseEvent,
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// Which button goes down or up.
        #[serde(default)]
        button: MouseButton,
        /// Which clicks in a row this is.
        #[serde(default)]
        clicks: u8,
        /// How far a wheel turns.
        #[serde(default)]
        dx: f64,
        /// The same, downwards.
        #[serde(default)]
        dy: f64,
        /// Alt 1, Ctrl 2, Meta 4, Shift 8.
        #[serde(default)]
        modifiers: u8,
    },
    /// A key.
    Key {
        /// Whether it goes down or up.
        event: KeyEvent,
        /// Its name: `Enter`, `a`.
        key: String,
        /// Its place on the keyboard: `KeyA`.
        #[serde(default)]
        code: String,
        /// Its number, as pages know it.
        #[serde(default)]
        key_code: u16,
        /// Alt 1, Ctrl 2, Meta 4, Shift 8.
        #[serde(default)]
        modifiers: u8,
    },
    /// A text, as if it were typed: pasted, or written with an input method.
    Text {
        /// The text.
        text: String,
    },
    /// Opens an address in this tab.
    Navigate {
        /// The address.
        url: String,
    },
    /// The page before this one.
    Back,
    /// The page after this one.
    Forward,
    /// The same page again.
    Reload,
    /// Shows another tab.
    Tab {
        /// Which one.
        id: String,
    },
    /// Answers a question of the page.
    Dialog {
        /// Yes or no.
        accept: bool,
        /// What was asked for.
        #[serde(default)]
        text: String,
    },
}

/// What a mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseEvent {
    /// A button goes down.
    Down,
    /// A button goes up.
    Up,
    /// It moves.
    Move,
    /// Its wheel turns.
    Wheel,
}

/// A button of a mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseButton {
    /// None.
    #[default]
    None,
    /// The first.
    Left,
    /// The wheel.
    Middle,
    /// The second.
    Right,
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyEvent {
    /// It goes down.
    Down,
    /// It goes up.
    Up,
}

/// What a watcher is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ViewEvent {
    /// How things are; sent when something of it has changed.
    State(ViewState),
    /// A word was not obeyed.
    Refused {
        /// Why.
        cause: ViewCause,
        /// One sentence.
        message: String,
    },
}

/// How things are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewState {
    /// Whether there is a browser.
    pub browser: bool,
    /// Its tabs. Titles and addresses are the pages' own words.
    pub tabs: Vec<ViewTab>,
    /// Who has control.
    pub control: Controller,
    /// What the page asks, and waits for.
    pub dialog: Option<String>,
}

/// One tab.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewTab {
    /// Its id.
    pub id: String,
    /// Its title, cut.
    pub title: String,
    /// Its address, cut.
    pub url: String,
    /// Whether it is the one that is shown.
    pub shown: bool,
}

/// Who has control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Controller {
    /// Commands.
    #[default]
    Agent,
    /// You, as soon as the command that runs has ended.
    Taking,
    /// You.
    You,
    /// Another person.
    Another,
}

/// Why a word was not obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewCause {
    /// It cannot be read.
    Unreadable,
    /// This watcher may only look.
    ReadOnly,
    /// This watcher has no control.
    NoControl,
    /// Another person has control.
    Held,
    /// The browser is busy, or could not be started.
    Unavailable,
    /// The address is not allowed here.
    NotAllowed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_they_are_documented() {
        let read = |text: &str| serde_json::from_str::<ViewWord>(text);
        assert_eq!(read(r#"{"type":"ack","seq":7}"#).unwrap(), ViewWord::Ack { seq: 7 });
        assert_eq!(read(r#"{"type":"take"}"#).unwrap(), ViewWord::Take);
        assert!(matches!(
            read(r#"{"type":"mouse","event":"down","x":1,"y":2.5,"button":"left","clicks":1}"#).unwrap(),
            ViewWord::Mouse { event: MouseEvent::Down, button: MouseButton::Left, clicks: 1, modifiers: 0, .. }
        ));
        assert!(read(r#"{"type":"fly"}"#).is_err() && read("").is_err());
        let told = ViewEvent::Refused { cause: ViewCause::NoControl, message: "no".to_owned() };
        assert_eq!(serde_json::to_string(&told).unwrap(), r#"{"type":"refused","cause":"no_control","message":"no"}"#);
    }
}
