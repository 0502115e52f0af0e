//! A machine without fonts: pictures have text all the same.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cove_in;

/// One line per face; each is drawn in letters of its own, and as wide as its words are long.
const POSTER: &str = "
    const ctx = getCanvas(400, 160).getContext('2d');
    const ink = (top, bottom) => ctx.getImageData(0, top, 400, bottom - top).data.filter((v, i) => i % 4 === 3 && v > 64).length;
    const lines = ['sans-serif', 'serif', 'monospace', 'Helvetica'].map((font, i) => {
        ctx.font = '20px ' + font;
        ctx.fillText('Total 1,234 units — résumé', 8, 30 + 40 * i);
        return [ink(40 * i, 40 * i + 40) > 400, ctx.measureText('Total').width > 30, ctx.measureText('iii').width === ctx.measureText('WWW').width] });
    return lines";

/// What `POSTER` says where text is drawn: the third face, and no other, is mono.
const DRAWN: &str = "[[true,true,false],[true,true,false],[true,true,true],[true,true,false]]";

fn poster(folder: &Path) -> Vec<u8> {
    let folder = std::fs::read_dir(folder.join("artifacts")).unwrap();
    let mut pictures =
        folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "png"));
    std::fs::read(pictures.next().unwrap()).unwrap()
}

/// The binary's own faces, by the option and, where this machine lets us hide its fonts, for want of any other.
#[test]
fn text_is_drawn_without_any_font() {
    let folder = tempfile::tempdir().unwrap();
    let done = cove_in(folder.path(), &["run", "-", "--no-system-fonts", "--engine", "embedded"], POSTER);
    assert_eq!((done.code, done.out.trim()), (0, DRAWN), "{done:?}");

    let hidden = tempfile::tempdir().unwrap();
    std::fs::write(hidden.path().join("poster.js"), POSTER).unwrap();
    let script = "for place in /usr/share/fonts /usr/local/share/fonts; do
            if [ -d $place ]; then mount -t tmpfs none $place || exit 77; fi
        done
        exec \"$0\" run poster.js --engine embedded";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_cove")])
        .current_dir(hidden.path())
        .env("HOME", hidden.path())
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else { return };
    if output.status.success() {
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), DRAWN);
        assert_eq!(poster(hidden.path()), poster(folder.path()), "the option shows what a bare machine draws");
    } else {
        // No namespaces here, or no mounts in them: then nothing has run.
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}
