//! Which protocol a terminal speaks, told from its environment, or by asking it.

use clap::ValueEnum;

use super::Protocol;

/// What the user wants to see in the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wish {
    /// The pictures, if the terminal can show them
    Auto,
    /// Only their paths
    Never,
    /// By kitty's graphics protocol
    Kitty,
    /// By iTerm2's inline images
    Iterm,
    /// As sixels
    Sixel,
}

/// What the environment says of the terminal.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    is_terminal: bool,
    /// Nobody watches: a build server, or a terminal that knows no escapes.
    unseen: bool,
    /// A multiplexer is between; what the environment says of the outer terminal does not hold.
    multiplexed: bool,
    kitty: bool,
    iterm: bool,
}

impl Terminal {
    /// Reads the variables that terminals set.
    pub(crate) fn from(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        let program = variable("TERM_PROGRAM").unwrap_or_default();
        Self {
            is_terminal,
            unseen: variable("CI").is_some() || term == "dumb" || term.is_empty(),
            multiplexed: variable("TMUX").is_some() || term.starts_with("tmux") || term.starts_with("screen"),
            kitty: variable("KITTY_WINDOW_ID").is_some()
                || matches!(term.as_str(), "xterm-kitty" | "xterm-ghostty")
                || program == "ghostty",
            iterm: matches!(program.as_str(), "iTerm.app" | "WezTerm")
                || variable("LC_TERMINAL").is_some_and(|name| name == "iTerm2"),
        }
    }
}

/// The protocol to use. `says_sixel` asks the terminal itself, which costs a round trip: only if nothing else is known.
pub(super) fn protocol(wish: Wish, terminal: &Terminal, says_sixel: impl FnOnce() -> bool) -> Option<Protocol> {
    match wish {
        Wish::Never => None,
        Wish::Kitty => Some(Protocol::Kitty),
        Wish::Iterm => Some(Protocol::Iterm),
        Wish::Sixel => Some(Protocol::Sixel),
        Wish::Auto if !terminal.is_terminal || terminal.unseen => None,
        Wish::Auto if terminal.kitty && !terminal.multiplexed => Some(Protocol::Kitty),
        Wish::Auto if terminal.iterm && !terminal.multiplexed => Some(Protocol::Iterm),
        Wish::Auto => says_sixel().then_some(Protocol::Sixel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_their_variables() {
        let check = |variables: &[(&str, &str)]| {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            protocol(Wish::Auto, &Terminal::from(true, variable), || true)
        };
        for (variables, expected) in [
            (&[("TERM", "xterm-kitty")][..], Some(Protocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")], Some(Protocol::Kitty)),
            (&[("TERM", "xterm-ghostty"), ("TERM_PROGRAM", "ghostty")], Some(Protocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Some(Protocol::Iterm)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Some(Protocol::Iterm)),
            (&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")], Some(Protocol::Iterm)),
            (&[("TERM", "foot")], Some(Protocol::Sixel)),
            (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x"), ("KITTY_WINDOW_ID", "1")], Some(Protocol::Sixel)),
            (&[("TERM", "dumb"), ("KITTY_WINDOW_ID", "1")], None),
            (&[("TERM", "xterm-kitty"), ("CI", "true")], None),
            (&[], None),
        ] {
            assert_eq!(check(variables), expected, "{variables:?}");
        }
    }

    #[test]
    fn nothing_is_asked_without_need() {
        let asks = |wish, is_terminal: bool, term: &str| {
            let mut asked = false;
            let terminal = Terminal::from(is_terminal, |name| (name == "TERM").then(|| term.to_owned()));
            protocol(wish, &terminal, || {
                asked = true;
                false
            });
            asked
        };
        assert!(asks(Wish::Auto, true, "xterm"));
        assert!(!asks(Wish::Auto, false, "xterm"));
        assert!(!asks(Wish::Auto, true, "xterm-kitty"));
        assert!(!asks(Wish::Never, true, "xterm"));
        assert!(!asks(Wish::Sixel, true, "xterm"));
    }
}
