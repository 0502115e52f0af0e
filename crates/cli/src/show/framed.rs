//! The two protocols that take a PNG as it is, in base64: kitty's and iTerm2's.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Window, png_size};

/// kitty takes base64 in pieces of this size.
const PIECE: usize = 4096;

/// Transmit and display (`a=T`) a PNG (`f=100`), and answer nothing (`q=2`): an answer would land in the user's shell.
pub(super) fn kitty(png: &[u8], window: Option<Window>) -> String {
    let text = STANDARD.encode(png);
    let mut out = String::with_capacity(text.len() + text.len() / 64 + 64);
    // A picture wider than the window would be cut off; so it gets as many columns as there are.
    let wide = window.filter(|w| w.width_px > 0 && png_size(png).is_some_and(|(width, _)| width > w.width_px));
    let fit = wide.map_or_else(String::new, |window| format!(",c={}", window.columns));
    let mut rest = text.as_str();
    let mut first = true;
    while first || !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.len().min(PIECE));
        let control = if first { format!("a=T,f=100,q=2{fit},") } else { String::new() };
        let _ = write!(out, "\x1b_G{control}m={};{piece}\x1b\\", u8::from(!more.is_empty()));
        (rest, first) = (more, false);
    }
    out
}

/// One sequence with everything in it; the terminal makes it fit.
pub(super) fn iterm(png: &[u8]) -> String {
    format!("\x1b]1337;File=inline=1;size={};preserveAspectRatio=1:{}\x07", png.len(), STANDARD.encode(png))
}
