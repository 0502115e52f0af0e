//! Paths as E2B's clients write them. Their home is `/home/user`; here that is the workspace.

/// The workspace inside a sandbox.
pub(crate) const WORKSPACE: &str = "/workspace";

/// What clients take for the user's home.
const HOME: &str = "/home/user";

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SandboxPath {
    /// The path as the client is told it.
    pub(crate) shown: String,
    /// The path inside the sandbox, absolute and without detours.
    pub(crate) inside: String,
}

impl SandboxPath {
    /// Reads a path: relative to the home, or absolute.
    pub(crate) fn of(path: &str) -> Self {
        let below_home = path.strip_prefix("~/").unwrap_or(if path == "~" { "" } else { path });
        let whole = match below_home.strip_prefix('/') {
            Some(absolute) => straight(absolute),
            None => straight(&format!("{}/{below_home}", &HOME[1..])),
        };
        let inside = match whole.strip_prefix(HOME) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{WORKSPACE}{rest}"),
            _ => whole.clone(),
        };
        Self { shown: whole, inside }
    }

    /// The path in the workspace, where it is there; `.` is the workspace itself.
    pub(crate) fn in_workspace(&self) -> Option<&str> {
        let rest = self.inside.strip_prefix(WORKSPACE)?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(rest),
            None if rest.is_empty() => Some("."),
            None => None,
        }
    }

    /// Its last part.
    pub(crate) fn name(&self) -> &str {
        self.shown.rsplit('/').next().unwrap_or_default()
    }

    /// A path inside the sandbox below this one, as the client is told it.
    pub(crate) fn shown_of(&self, inside: &str) -> String {
        match inside.strip_prefix(&self.inside) {
            Some(rest) => format!("{}{rest}", self.shown.trim_end_matches('/')),
            None => inside.to_owned(),
        }
    }
}

/// An absolute path without `.`, `..` and empty parts.
fn straight(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_the_workspace() {
        for (given, shown, inside, below) in [
            ("a.txt", "/home/user/a.txt", "/workspace/a.txt", Some("a.txt")),
            ("~/b/../a", "/home/user/a", "/workspace/a", Some("a")),
            ("/home/user", "/home/user", "/workspace", Some(".")),
            ("", "/home/user", "/workspace", Some(".")),
            ("/home/user2/x", "/home/user2/x", "/home/user2/x", None),
            ("/workspace/x", "/workspace/x", "/workspace/x", Some("x")),
            ("/workspaces", "/workspaces", "/workspaces", None),
            ("../x", "/home/x", "/home/x", None),
            ("/tmp//x/.", "/tmp/x", "/tmp/x", None),
        ] {
            let place = SandboxPath::of(given);
            assert_eq!((&*place.shown, &*place.inside, place.in_workspace()), (shown, inside, below), "{given}");
        }
        assert_eq!(SandboxPath::of("d").shown_of("/workspace/d/e"), "/home/user/d/e");
    }
}
