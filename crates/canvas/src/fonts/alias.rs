//! Which installed family stands in for a CSS family, as a browser on Linux decides it.
//!
//! Browsers take a stand-in only where its glyphs have the same widths (Arial and Liberation Sans); any other unknown
//! family falls through to the next one in the list and at last to the standard serif.

/// Real families to try for a family name or a generic one (lower case), best first.
pub(super) fn candidates(name: &str, generic: bool) -> &'static [&'static str] {
    const SANS: &[&str] =
        &["liberation sans", "arimo", "arial", "helvetica", "dejavu sans", "noto sans", "roboto", "cove sans"];
    const SERIF: &[&str] = &[
        "liberation serif",
        "tinos",
        "times new roman",
        "times",
        "dejavu serif",
        "noto serif",
        "liberation sans",
        "cove sans",
    ];
    const MONO: &[&str] =
        &["liberation mono", "cousine", "courier new", "dejavu sans mono", "noto sans mono", "cove mono"];
    const SYSTEM: &[&str] = &["dejavu sans", "noto sans", "roboto", "liberation sans", "cove sans"];
    const EMOJI: &[&str] =
        &["noto color emoji", "twemoji mozilla", "apple color emoji", "segoe ui emoji", "cove emoji"];
    match (name, generic) {
        ("sans-serif", true) => SANS,
        ("serif", true) => SERIF,
        ("monospace", true) => MONO,
        ("system-ui", true) => SYSTEM,
        ("emoji", true) => EMOJI,
        (_, true) => &[],
        ("arial" | "helvetica" | "arimo", _) => SANS,
        ("times new roman" | "times" | "tinos", _) => SERIF,
        ("courier new" | "courier" | "cousine", _) => MONO,
        ("arial narrow", _) => &["liberation sans narrow"],
        ("calibri", _) => &["carlito"],
        ("cambria", _) => &["caladea"],
        ("sans" | "sans serif", _) => SYSTEM,
        _ => &[],
    }
}

/// Families that end every list: what a browser calls the standard font, then whatever there is.
pub(super) const LAST_RESORT: &[&str] = &[
    "liberation serif",
    "tinos",
    "times new roman",
    "dejavu serif",
    "noto serif",
    "liberation sans",
    "dejavu sans",
    "cove sans",
];

/// Families to ask first for characters the chosen ones lack.
pub(super) const FALLBACK: &[&str] = &[
    "dejavu sans",
    "liberation sans",
    "noto sans",
    "noto sans symbols",
    "noto sans symbols2",
    "noto sans math",
    "cove sans",
    "cove mono",
    "cove emoji",
    "cove symbols",
];

/// CJK families for a script: the one drawn for it first.
pub(super) fn cjk(script: unicode_script::Script, lang: &str) -> &'static [&'static str] {
    use unicode_script::Script;
    const JP: &[&str] = &["noto sans cjk jp", "noto sans jp", "source han sans jp", "ipagothic", "wenquanyi zen hei"];
    const KR: &[&str] = &["noto sans cjk kr", "noto sans kr", "nanumgothic", "noto sans cjk jp"];
    const SC: &[&str] =
        &["noto sans cjk sc", "noto sans sc", "wenquanyi zen hei", "wenquanyi micro hei", "noto sans cjk jp"];
    const TC: &[&str] = &["noto sans cjk tc", "noto sans cjk hk", "noto sans tc", "noto sans cjk jp"];
    match script {
        Script::Hangul => KR,
        Script::Han if lang.starts_with("zh-tw") || lang.starts_with("zh-hant") || lang.starts_with("zh-hk") => TC,
        Script::Han if lang.starts_with("zh") => SC,
        Script::Han if lang.starts_with("ko") => KR,
        Script::Han | Script::Hiragana | Script::Katakana => JP,
        Script::Bopomofo => TC,
        _ => &[],
    }
}
