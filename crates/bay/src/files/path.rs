//! Which paths are let in: relative ones that stay in the workspace.

use cove_api::{BayError, ErrorCode};

use crate::BayResult;

/// The path without detours; refused where it is empty, absolute, leads out, or holds a NUL.
pub(crate) fn relative(path: &str) -> BayResult<String> {
    let refuse = |reason: &str, message: &str| {
        Err(BayError::new(ErrorCode::InvalidPath, message).with("reason", reason).with("path", path.replace('\0', "␀")))
    };
    if path.trim().is_empty() {
        return refuse("empty_path", "the path is empty");
    }
    if path.contains('\0') {
        return refuse("null_byte", "the path holds a NUL character");
    }
    if path.starts_with('/') {
        return refuse("absolute_path", "the path must be relative to /workspace");
    }
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if kept.pop().is_none() {
                    return refuse("path_traversal", "the path leads out of /workspace");
                }
            }
            name => kept.push(name),
        }
    }
    Ok(if kept.is_empty() { ".".to_owned() } else { kept.join("/") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_or_are_refused_with_a_reason() {
        for (path, kept) in [
            ("a", "a"),
            ("a/../b", "b"),
            ("./a//b/", "a/b"),
            (".", "."),
            ("a/..", "."),
            ("...", "..."),
            (".h/x", ".h/x"),
        ] {
            assert_eq!(relative(path).unwrap(), kept, "{path}");
        }
        for (path, reason) in [
            ("", "empty_path"),
            ("  ", "empty_path"),
            ("a\0b", "null_byte"),
            ("/etc/passwd", "absolute_path"),
            ("..", "path_traversal"),
            ("a/../../b", "path_traversal"),
            ("../workspace/a", "path_traversal"),
        ] {
            let refused = relative(path).unwrap_err();
            assert_eq!((refused.code, &refused.details["reason"]), (ErrorCode::InvalidPath, &reason.into()), "{path}");
        }
    }
}
