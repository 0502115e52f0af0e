//! Pictures in the terminal, for those that can show them.
//!
//! They go to standard error, as everything does that is for eyes only; standard output stays data. A terminal that
//! says nothing of pictures gets none: its user sees the path, as before.

mod ask;
mod detect;
mod framed;
mod sixel;

use std::path::Path;

pub(crate) use detect::{Terminal, Wish};

/// The largest file that is sent to a terminal.
const MAX_PNG_BYTES: usize = 16 << 20;

/// How a terminal takes pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// kitty's graphics protocol: kitty, Ghostty.
    Kitty,
    /// iTerm2's inline images: iTerm2, WezTerm.
    Iterm,
    /// DEC's sixels: foot, xterm, mlterm, Windows Terminal, tmux.
    Sixel,
}

/// The protocol to use for this wish on this machine, if any.
pub(crate) fn protocol(wish: Wish) -> Option<Protocol> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    detect::protocol(wish, &Terminal::from(crate::terminal::aside_is_terminal(), variable), ask::says_sixel)
}

/// Sends one picture. Trouble with it is no trouble of the run: the path is printed in any case.
pub(crate) fn show(protocol: Protocol, file: &Path) {
    let Some(bytes) = std::fs::read(file).ok().filter(|png| png.len() <= MAX_PNG_BYTES) else { return };
    let window = ask::window();
    let text = match protocol {
        Protocol::Kitty => framed::kitty(&bytes, window),
        Protocol::Iterm => framed::iterm(&bytes),
        Protocol::Sixel => match sixel::from_png(&bytes, window) {
            Some(text) => text,
            None => return,
        },
    };
    let _ = crate::terminal::own_aside(&format!("{text}\n"));
}

/// The size of a window, in cells and pixels; pixels are zero where the terminal does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) columns: u32,
    pub(crate) width_px: u32,
}

/// Width and height of a PNG, from its header.
fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    let header = png.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| (sum << 8) | u32::from(*byte));
    Some((number(header.get(..4)?), number(header.get(4..)?)))
}
