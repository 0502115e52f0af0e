//! `calc()` over plain numbers, and the channel names of a relative colour.

use crate::css::{Cursor, Token};

/// What `r`, `g`, `b`, `alpha`, … stand for inside `rgb(from …)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Channels {
    pub(crate) names: [&'static str; 3],
    pub(crate) values: [f64; 3],
    pub(crate) alpha: f64,
}

impl Channels {
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        if name == "alpha" {
            return Some(self.alpha);
        }
        self.names.iter().position(|n| *n == name).map(|i| self.values[i])
    }
}

/// How deep parentheses may nest before the expression is refused.
const MAX_DEPTH: u8 = 32;

/// Reads the inside of `calc(`, up to and including its `)`.
pub(crate) fn calc(c: &mut Cursor<'_>, channels: Option<&Channels>) -> Option<f64> {
    let value = sum(c, channels, 0)?;
    c.close().then_some(value)
}

fn sum(c: &mut Cursor<'_>, channels: Option<&Channels>, depth: u8) -> Option<f64> {
    let mut total = product(c, channels, depth)?;
    loop {
        if c.take(&Token::Delim('+')) {
            total += product(c, channels, depth)?;
        } else if c.take(&Token::Delim('-')) {
            total -= product(c, channels, depth)?;
        } else {
            return Some(total);
        }
    }
}

fn product(c: &mut Cursor<'_>, channels: Option<&Channels>, depth: u8) -> Option<f64> {
    let mut total = value(c, channels, depth)?;
    loop {
        if c.take(&Token::Delim('*')) {
            total *= value(c, channels, depth)?;
        } else if c.take(&Token::Delim('/')) {
            total /= value(c, channels, depth)?;
        } else {
            return Some(total);
        }
    }
}

fn value(c: &mut Cursor<'_>, channels: Option<&Channels>, depth: u8) -> Option<f64> {
    if depth > MAX_DEPTH {
        return None;
    }
    c.skip_space();
    match c.next()? {
        Token::Number { value, .. } => Some(*value),
        Token::Percent(p) => Some(p / 100.0),
        Token::Ident { lower, .. } => match lower.as_str() {
            "pi" => Some(std::f64::consts::PI),
            "e" => Some(std::f64::consts::E),
            name => channels?.get(name),
        },
        Token::Open => {
            let v = sum(c, channels, depth + 1)?;
            c.close().then_some(v)
        }
        Token::Function(name) if name == "calc" => {
            let v = sum(c, channels, depth + 1)?;
            c.close().then_some(v)
        }
        _ => None,
    }
}
