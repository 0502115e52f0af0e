//! Addresses of resources: `cove://sandboxes/{id}/artifacts/{name}` and `cove://sandboxes/{id}/files/{path}`.

use cove_api::SandboxId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stays as it is in a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const ROOT: &str = "cove://sandboxes/";

/// What an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResourceUri {
    Artifact { sandbox_id: SandboxId, name: String },
    File { sandbox_id: SandboxId, path: String },
}

pub(crate) fn artifact(sandbox_id: &str, name: &str) -> String {
    format!("{ROOT}{sandbox_id}/artifacts/{}", utf8_percent_encode(name, PLAIN))
}

pub(crate) fn file(sandbox_id: &str, path: &str) -> String {
    format!("{ROOT}{sandbox_id}/files/{}", utf8_percent_encode(inside(path), PLAIN))
}

/// A path as the workspace has it.
pub(crate) fn inside(path: &str) -> &str {
    let path = path.strip_prefix("/workspace").unwrap_or(path);
    path.trim_start_matches('/')
}

pub(crate) fn parse(uri: &str) -> Option<ResourceUri> {
    let rest = uri.strip_prefix(ROOT)?;
    let (sandbox_id, rest) = rest.split_once('/')?;
    let (kind, name) = rest.split_once('/')?;
    let name = percent_decode_str(name).decode_utf8().ok()?.into_owned();
    let sandbox_id = sandbox_id.parse().ok()?;
    match kind {
        _ if name.is_empty() => None,
        "artifacts" => Some(ResourceUri::Artifact { sandbox_id, name }),
        "files" => Some(ResourceUri::File { sandbox_id, path: name }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for path in ["a.txt", "ä b/c#d?.txt", "x%20y", "deep/er/file"] {
            let uri = file("sandbox-000000000001", path);
            let expected =
                ResourceUri::File { sandbox_id: "sandbox-000000000001".parse().unwrap(), path: path.to_owned() };
            assert_eq!(parse(&uri), Some(expected), "{uri}");
        }
        assert_eq!(file("s", "/workspace/a.txt"), file("s", "a.txt"));
        for odd in [
            "",
            "file:///etc/passwd",
            "cove://sandboxes/s",
            "cove://sandboxes/s/files/a",
            "cove://sandboxes/sandbox-000000000001/files/",
            "cove://sandboxes/sandbox-000000000001/x/y",
        ] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }
}
