//! What passes to a terminal, and how the rest is shown.
//!
//! Colours pass in one form only, `ESC [ numbers m`, and without the number that hides letters. A control is shown by its
//! Unicode picture (`␛`), another hidden letter by its number (`<U+202E>`). Sequences may come in any number of pieces.

use std::fmt::Write as _;

/// The longest list of colours that passes. Real ones have some 20 letters.
const MAX_COLOUR_BYTES: usize = 64;

/// The number that makes letters invisible.
const CONCEAL: &str = "8";

/// Where in a sequence the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// After a carriage return: harmless before a line feed, and only there.
    Return,
    /// After `ESC`.
    Escape,
    /// After `ESC [` and `numbers`.
    Numbers,
}

/// Reads a stream of bytes, writes what a terminal may see.
#[derive(Debug)]
pub(super) struct Filter {
    colours: bool,
    state: State,
    numbers: String,
    /// A colour was set and not taken back.
    painted: bool,
    /// The beginning of a letter whose other bytes have not come yet.
    part: Vec<u8>,
}

impl Filter {
    /// `colours`: those of others pass; else they are left out.
    pub(super) fn new(colours: bool) -> Self {
        Self { colours, state: State::Text, numbers: String::new(), painted: false, part: Vec::new() }
    }

    /// Takes the next piece.
    pub(super) fn pass(&mut self, bytes: &[u8], out: &mut String) {
        if self.part.is_empty() {
            return self.read(bytes, out);
        }
        let mut whole = std::mem::take(&mut self.part);
        whole.extend_from_slice(bytes);
        self.read(&whole, out);
    }

    /// Shows what was begun and will not be finished.
    pub(super) fn finish(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.part).is_empty() {
            self.letter(char::REPLACEMENT_CHARACTER, out);
        }
        self.give_up(out);
        if std::mem::take(&mut self.painted) {
            out.push_str("\x1b[0m");
        }
    }

    fn read(&mut self, mut bytes: &[u8], out: &mut String) {
        loop {
            let (valid, wrong) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, None),
                Err(error) => {
                    let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                    (std::str::from_utf8(valid).unwrap_or_default(), Some(error.error_len()))
                }
            };
            for letter in valid.chars() {
                self.letter(letter, out);
            }
            let rest = bytes.get(valid.len()..).unwrap_or_default();
            match wrong {
                None => return,
                // The end of the piece lies inside a letter.
                Some(None) => return self.part.extend_from_slice(rest),
                Some(Some(length)) => {
                    self.letter(char::REPLACEMENT_CHARACTER, out);
                    bytes = rest.get(length..).unwrap_or_default();
                }
            }
        }
    }

    fn letter(&mut self, letter: char, out: &mut String) {
        match (self.state, letter) {
            (State::Text, '\x1b') => self.state = State::Escape,
            (State::Text, '\r') => self.state = State::Return,
            (State::Text, _) => show(letter, out),
            (State::Return, '\n') => {
                self.state = State::Text;
                out.push('\n');
            }
            (State::Escape, '[') => {
                self.state = State::Numbers;
                self.numbers.clear();
            }
            (State::Numbers, '0'..='9' | ';') if self.numbers.len() < MAX_COLOUR_BYTES => self.numbers.push(letter),
            (State::Numbers, 'm') if !hides(&self.numbers) => {
                self.state = State::Text;
                self.painted = self.colours && !matches!(self.numbers.rsplit(';').next(), Some("" | "0"));
                if self.colours {
                    let _ = write!(out, "\x1b[{}m", self.numbers);
                }
            }
            _ => {
                self.give_up(out);
                self.letter(letter, out);
            }
        }
    }

    /// What was begun is no colour: it is shown.
    fn give_up(&mut self, out: &mut String) {
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text => {}
            State::Return => show('\r', out),
            State::Escape => show('\x1b', out),
            State::Numbers => {
                show('\x1b', out);
                out.push('[');
                out.push_str(&self.numbers);
            }
        }
    }
}

/// Whether a list of colours hides what follows. The numbers of a palette (`38;5;8`, `48;2;r;g;b`) are no orders.
fn hides(numbers: &str) -> bool {
    let mut orders = numbers.split(';');
    while let Some(order) = orders.next() {
        match order.trim_start_matches('0') {
            "38" | "48" | "58" => match orders.next() {
                Some("5") => {
                    orders.next();
                }
                Some("2") => {
                    orders.nth(2);
                }
                // A list that terminals read in different ways.
                _ => return true,
            },
            CONCEAL => return true,
            _ => {}
        }
    }
    false
}

/// Letters that a terminal obeys, or does not show though they change what is read beside them: controls, turned and
/// isolated text, letters without a shape. The joiners and variants that emoji and many scripts need are not among them.
fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\0'..='\x08' | '\x0B'..='\x1F' | '\x7F'..='\u{9F}' | '\u{AD}' | '\u{34F}' | '\u{61C}'
        | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
        | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

fn show(letter: char, out: &mut String) {
    match letter {
        // The pictures of the controls stand in their own order.
        '\0'..='\x1F' if is_hidden(letter) => out.extend(char::from_u32(0x2400 + u32::from(letter))),
        '\x7F' => out.push('\u{2421}'),
        _ if is_hidden(letter) => {
            let _ = write!(out, "<U+{:04X}>", u32::from(letter));
        }
        _ => out.push(letter),
    }
}

/// JSON whose texts hold no hidden letter: each is written by its number, as JSON allows, so that it stays the same JSON.
pub(super) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) && !letter.is_ascii_whitespace() {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
