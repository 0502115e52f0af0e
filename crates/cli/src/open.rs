//! `cove open`: the page of a running server in a browser, logged in by a link that works once.
//!
//! The link is not an argument of the browser's: everybody on this machine could read it there. It is written to a file that
//! only its owner can read, and the browser is given the file.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Stdio;

use clap::Args as ClapArgs;
use cove_client::Client;

use crate::exit::Exit;
use crate::terminal::{self, DIM, PLAIN, note};
use crate::{local, sandbox};

/// The page that leads to the link, in the data folder. What is in it is worth nothing a minute later.
const FILE: &str = "open.html";

#[derive(Debug, ClapArgs)]
pub(crate) struct Open {
    #[command(flatten)]
    server: local::ServerArgs,
    /// Print the link instead of opening a browser; valid once, for a minute
    #[arg(long)]
    print: bool,
}

pub(crate) async fn open(args: Open) -> anyhow::Result<Exit> {
    let (url, key) = args.server.find().await;
    let asked = match Client::new(&url, key.as_deref()) {
        Ok(bay) => bay.page_link().await.map(|link| format!("{}{}", bay.address(), link.path)),
        Err(error) => Err(error),
    };
    let link = match asked {
        Ok(link) => link,
        Err(error) => return Ok(sandbox::refused(&error)),
    };
    let folder = args.server.data_dir.or_else(cove_workspace::data_dir);
    let started = !args.print && folder.is_some_and(|folder| start(&folder, &link).is_ok());
    if !started {
        writeln!(terminal::out(), "{link}")?;
        note!("{DIM}open this in a browser within a minute; it works once{PLAIN}");
    }
    Ok(Exit::Ok)
}

/// Starts the user's browser, where there is a screen to show it on.
#[expect(clippy::disallowed_methods, reason = "the browser is the user's own, and stays when this command has ended")]
fn start(folder: &Path, link: &str) -> std::io::Result<()> {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !has_screen {
        return Err(std::io::ErrorKind::Unsupported.into());
    }
    let path = folder.join(FILE);
    // A new file each time, so that it has this mode and no other's name.
    let _ = std::fs::remove_file(&path);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    // A link has no character that HTML reads otherwise: a URL, then hex digits, words and points.
    let safe = |c: char| c.is_ascii_alphanumeric() || ":/.#-_[]".contains(c);
    if !link.chars().all(safe) {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    writeln!(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\"><a href=\"{link}\">Cove</a>")?;
    let mut browser = std::process::Command::new("xdg-open");
    browser.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut browser, 0);
    browser.spawn().map(drop)
}
