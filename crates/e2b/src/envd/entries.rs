//! Entries of the file system, as `find` tells them in a sandbox and clients read them.

use serde_json::{Value, json};

use crate::paths::SandboxPath;

/// What is asked of each entry, ended by two zeros: type, type behind a link, path, size, mode, words of it, owner, group,
/// time, target.
pub(super) const FORMAT: &str = "%y\\0%Y\\0%p\\0%s\\0%m\\0%M\\0%u\\0%g\\0%T@\\0%l\\0\\0\\n";

const FIELDS: usize = 10;

/// Reads what `find` said with [`FORMAT`], as seen from `place`.
pub(super) fn entries(said: &[u8], place: &SandboxPath) -> Vec<Value> {
    let text = String::from_utf8_lossy(said);
    let mut rest = &*text;
    let mut all = Vec::new();
    loop {
        let mut fields = [""; FIELDS];
        for field in &mut fields {
            let Some((one, after)) = rest.split_once('\0') else { return all };
            (*field, rest) = (one, after);
        }
        let Some(after) = rest.strip_prefix("\0\n") else { return all };
        rest = after;
        all.push(entry(&fields, place));
    }
}

fn entry(fields: &[&str; FIELDS], place: &SandboxPath) -> Value {
    let [kind, behind, path, size, mode, words, owner, group, modified, target] = fields;
    let is_link = *kind == "l";
    let shown = place.shown_of(path);
    let name = shown.rsplit('/').next().unwrap_or_default().to_owned();
    let file_type = match (is_link, if is_link { *behind } else { *kind }) {
        (_, "d") => "FILE_TYPE_DIRECTORY",
        (_, "f") => "FILE_TYPE_FILE",
        (true, _) => "FILE_TYPE_SYMLINK",
        (false, _) => "FILE_TYPE_UNSPECIFIED",
    };
    let mut entry = json!({
        "name": name,
        "type": file_type,
        "path": shown,
        // 64 bits are texts in this JSON.
        "size": size,
        "mode": u32::from_str_radix(mode, 8).unwrap_or(0),
        "permissions": words,
        "owner": owner,
        "group": group,
        "modifiedTime": time(modified),
    });
    if is_link {
        entry["symlinkTarget"] = json!(target);
        entry["isSymlink"] = json!(true);
    }
    entry
}

/// Seconds with a fraction, as a date.
fn time(seconds: &str) -> String {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let nanos: i32 = fraction.get(..9).unwrap_or("0").parse().unwrap_or(0);
    let at = jiff::Timestamp::new(whole.parse().unwrap_or(0), nanos).unwrap_or_default();
    at.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_line_ends_stay_names() {
        let one = |path: &str| format!("f\0f\0{path}\x003\0644\0-rw-r--r--\0u\0g\01700000000.5000000000\0\0\0\n");
        let said = one("/workspace/d/a\nb") + &one("/workspace/d/c");
        let all = entries(said.as_bytes(), &SandboxPath::of("d"));
        assert_eq!(all.len(), 2);
        assert_eq!(all[0]["path"], "/home/user/d/a\nb");
        assert_eq!((&all[1]["name"], &all[1]["mode"]), (&json!("c"), &json!(0o644)));
        assert_eq!(all[1]["modifiedTime"], "2023-11-14T22:13:20.5Z");
    }
}
