//! A written text in pieces, each with what it stands for.

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is, in the words of ECMA-402.
    pub kind: &'static str,
    /// Its text.
    pub text: String,
}

/// One piece of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangePart {
    /// The piece.
    pub part: Part,
    /// `startRange`, `endRange` or `shared`.
    pub source: &'static str,
}

impl Part {
    pub(crate) fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self::new("literal", text)
    }
}

/// Adds a piece; an empty one is left out, and literals that meet become one.
pub(crate) fn push(parts: &mut Vec<Part>, part: Part) {
    if part.text.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some(last) if last.kind == "literal" && part.kind == "literal" => last.text += &part.text,
        _ => parts.push(part),
    }
}

/// All pieces as one text.
pub(crate) fn join(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// The pieces of a text like `{0} and {1}`: literals, and the numbers of places.
pub(crate) fn places(pattern: &str) -> Vec<PatternPiece<'_>> {
    let mut found = Vec::new();
    let mut rest = pattern;
    while let Some(at) = rest.find('{') {
        let (before, behind) = rest.split_at(at);
        if !before.is_empty() {
            found.push(PatternPiece::Text(before));
        }
        let Some(end) = behind.find('}') else { break };
        found.push(PatternPiece::Number(behind[1..end].parse().unwrap_or_default()));
        rest = &behind[end + 1..];
    }
    if !rest.is_empty() {
        found.push(PatternPiece::Text(rest));
    }
    found
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternPiece<'a> {
    Text(&'a str),
    Number(usize),
}
