//! What was typed.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use cove_api::SandboxStatus;

#[derive(Debug, ClapArgs)]
pub(crate) struct Sandbox {
    #[command(flatten)]
    pub(super) server: crate::local::ServerArgs,
    /// Print JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) raw: crate::args::RawArg,
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Create a sandbox and print its id
    Create {
        /// Profile of the sandbox
        #[arg(long, default_value = "python-default")]
        profile: String,
        /// Use an existing cargo
        #[arg(long, value_name = "ID")]
        cargo: Option<String>,
        /// Lifetime: `90`, `15m`, `2h`, `7d` [default: unlimited]
        #[arg(long, value_name = "TIME", value_parser = seconds)]
        ttl: Option<i64>,
    },
    /// List sandboxes
    #[command(visible_alias = "ls")]
    List {
        /// Only sandboxes in this state
        #[arg(long)]
        status: Option<StatusArg>,
    },
    /// Show a sandbox
    Get {
        /// Id of the sandbox
        id: String,
    },
    /// Run a command, Python, JavaScript or a browser command in a sandbox
    Exec(Exec),
    /// Copy a file or a folder in or out: one of the two is `ID:PATH`
    Cp {
        /// A file or a folder here, `-` for standard input, or `ID:PATH` (`ID:@NAME`: a picture)
        from: String,
        /// A file or a folder here, `-` for standard output, or `ID:PATH`
        to: String,
    },
    /// Show what ran in a sandbox, or what one of its processes has written
    Logs {
        /// Id of the sandbox
        id: String,
        /// Name or number of a process that was left running
        process: Option<String>,
        /// Follow new events as they happen
        #[arg(long, short)]
        follow: bool,
        /// Number of entries
        #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
        last: u32,
    },
    /// List the processes that were left running in a sandbox
    Ps {
        /// Id of the sandbox
        id: String,
    },
    /// End a process of a sandbox, with everything that it has started
    Kill {
        /// Id of the sandbox
        id: String,
        /// Name or number of the process
        process: String,
        /// Only send this signal: 15 asks to end, 2 interrupts
        #[arg(long, value_name = "NUMBER", default_value_t = 9, value_parser = clap::value_parser!(i32).range(1..=31))]
        signal: i32,
    },
    /// Show the ports on which programs listen, or make a link to one
    Ports {
        /// Id of the sandbox
        id: String,
        /// Make a link to this port and print its address
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        link: Option<u16>,
        /// How long the link works: `90`, `15m`, `2h`, `7d` [default: 1h]
        #[arg(long, value_name = "TIME", value_parser = seconds, requires = "link")]
        r#for: Option<i64>,
        /// Show the links that work
        #[arg(long, conflicts_with_all = ["link", "revoke"])]
        links: bool,
        /// Revoke this link
        #[arg(long, value_name = "LINK", conflicts_with = "link")]
        revoke: Option<String>,
    },
    /// Show which hosts a sandbox may reach and its connections, or change them while it runs
    Network {
        /// Id of the sandbox
        id: String,
        /// Open this host, too: `example.com`, `*.example.com`, `example.com:443`
        #[arg(long, value_name = "HOST", conflicts_with_all = ["only", "none", "reset"])]
        allow: Vec<String>,
        /// Open this host and those of further --only, and no others
        #[arg(long, value_name = "HOST", conflicts_with_all = ["none", "reset"])]
        only: Vec<String>,
        /// Close all hosts
        #[arg(long, conflicts_with = "reset")]
        none: bool,
        /// Open the hosts of the profile again
        #[arg(long)]
        reset: bool,
    },
    /// Stop a sandbox; its files stay, and the next command starts it again
    Stop {
        /// Id of the sandbox
        id: String,
    },
    /// Delete sandboxes
    #[command(visible_alias = "delete")]
    Rm {
        /// Ids of the sandboxes
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

#[derive(Debug, ClapArgs)]
pub(super) struct Exec {
    /// Id of the sandbox
    pub(super) id: String,
    /// Python; its state is kept between calls
    #[arg(long, group = "kind")]
    pub(super) python: bool,
    /// JavaScript or TypeScript
    #[arg(long, visible_alias = "javascript", group = "kind")]
    pub(super) js: bool,
    /// A browser command: `open https://example.com`, `snapshot -i`, `click @e1`
    #[arg(long, group = "kind")]
    pub(super) browser: bool,
    /// Leave the command running and print the name of its process; it has no time limit
    #[arg(long, short, conflicts_with_all = ["kind", "timeout"])]
    pub(super) detach: bool,
    /// Name of the process
    #[arg(long, value_name = "NAME", requires = "detach")]
    pub(super) name: Option<String>,
    /// Start it again with the sandbox, until it is killed
    #[arg(long, requires = "name")]
    pub(super) restart: bool,
    /// Code or command as one string
    #[arg(short, value_name = "CODE", allow_hyphen_values = true)]
    pub(super) code: Option<String>,
    /// Time limit in seconds
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(super) timeout: u64,
    /// The command and its arguments, or a file with code (`-` for standard input)
    #[arg(value_name = "WORDS|FILE", allow_hyphen_values = true)]
    pub(super) words: Vec<String>,
}

/// A sandbox's state.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum StatusArg {
    Idle,
    Starting,
    Ready,
    Failed,
    Expired,
}

impl From<StatusArg> for SandboxStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Idle => Self::Idle,
            StatusArg::Starting => Self::Starting,
            StatusArg::Ready => Self::Ready,
            StatusArg::Failed => Self::Failed,
            StatusArg::Expired => Self::Expired,
        }
    }
}

fn seconds(text: &str) -> Result<i64, String> {
    let (number, unit) = match text.char_indices().next_back() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3_600),
        Some((at, 'd')) => (&text[..at], 86_400),
        _ => (text, 1),
    };
    let number: i64 = number.parse().map_err(|_| "expected a number with s, m, h or d".to_owned())?;
    number.checked_mul(unit).filter(|secs| *secs >= 0).ok_or_else(|| "too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("15m"), Ok(900));
        assert_eq!(seconds("2h"), Ok(7_200));
        assert_eq!(seconds("7d"), Ok(604_800));
        assert!(seconds("x").is_err() && seconds("-1s").is_err() && seconds("").is_err());
    }
}
