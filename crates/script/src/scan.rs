//! The scan that `nesting` counts with: tokens, brackets, and no more of the grammar than telling `/` from `/`.
//!
//! Where a `/` may be a division or a regular expression and it matters, the scan splits in two, one for each reading:
//! to take one for the other would let a bracket in it close a real one. Every rule in here leans to that side.

use crate::lines::terminator;
use crate::nesting::{BRACKET, Frame, MAX_BRACKETS, Open, Units};

/// The token before, as far as a `/` after it cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A regular expression may follow, a division may not.
    Operator,
    /// The other way round.
    Operand,
    /// The `)` of a head: a statement follows.
    Head,
    /// `}`: of a block or of an object.
    Brace,
    /// A word that may be an operator or a name.
    Unsure,
}

/// What came of reading one token.
pub(crate) enum Step<'a> {
    /// There may be more.
    Read,
    /// A `/` that may be either: this scan divides, the other one reads a regular expression.
    Split(Box<Scan<'a>>),
    /// The text is over.
    End,
    /// The parser stops here if this is how it reads: a bracket does not fit, or a text is not closed.
    Dead,
    /// How the parser reads on is not known.
    Lost,
}

/// One way to read a text, token by token.
#[derive(Clone)]
pub(crate) struct Scan<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
    pub(crate) frames: Vec<Frame>,
    before: Before,
    /// Whether a line ended since the last token.
    newline: bool,
    /// Whether the last token was a `;` or `}` that may have ended a statement.
    ended: bool,
    /// Whether the last token was a word that makes a `(` after it the head of a statement.
    head: bool,
    /// Whether the last token was the dot before a property.
    dot: bool,
    /// The largest number of open frames so far, and where it was reached.
    pub(crate) deepest: (usize, usize),
    /// The other reading of the `/` just read.
    other: Option<Box<Self>>,
    lost: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let mut scan = Self {
            source,
            bytes: source.as_bytes(),
            at: 0,
            frames: vec![Frame::new(Open::Top, 0)],
            before: Before::Operator,
            newline: true,
            ended: false,
            head: false,
            dot: false,
            deepest: (1, 0),
            other: None,
            lost: false,
        };
        if source.starts_with("#!") {
            scan.line_comment();
        }
        scan
    }

    /// What was not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Whether both will read the same from here on, having the same brackets open.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let flags = |scan: &Self| (scan.at, scan.before, scan.newline, scan.ended, scan.head, scan.dot);
        let trail = |scan: &Self| (scan.frames.len(), scan.frames.last().map_or(0, |frame| frame.trail));
        flags(self) == flags(other)
            && trail(self) == trail(other)
            && self.frames.iter().zip(&other.frames).all(|(one, two)| one.open == two.open)
    }

    /// Takes over what the other reading counted, where it is more.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (mine, theirs) in self.frames.iter_mut().zip(&other.frames) {
            mine.absorb(theirs);
        }
        self.deepest = self.deepest.max(other.deepest);
    }

    /// Reads on until something else happens than reading, or too many brackets are open.
    pub(crate) fn run(&mut self) -> Step<'a> {
        loop {
            match self.step() {
                Step::Read if self.frames.len() <= MAX_BRACKETS + 1 => {}
                step => return step,
            }
        }
    }

    /// Reads one token or space.
    #[inline]
    pub(crate) fn step(&mut self) -> Step<'a> {
        let Some(&byte) = self.bytes.get(self.at) else { return Step::End };
        let certain = match byte {
            b' ' | b'\t' | 0x0B | 0x0C => self.skip(1),
            b'\n' | b'\r' => {
                self.newline = true;
                self.skip(1)
            }
            b'/' => self.slash(),
            b'"' | b'\'' => self.string(byte),
            b'`' => {
                self.token();
                self.count(1);
                self.at += 1;
                self.template()
            }
            b'(' => self.open(Open::Paren(self.head)),
            b'[' => self.open(Open::Square),
            b'{' => self.open(Open::Brace),
            b')' | b']' | b'}' => self.close(byte),
            b';' => {
                self.token();
                self.ended = true;
                self.after(1, Before::Operator)
            }
            b',' => {
                self.token();
                if let Some(frame) = self.frames.last_mut() {
                    frame.comma();
                }
                self.after(1, Before::Operator)
            }
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'#' | b'\\' => self.word(),
            0x80.. => self.beyond_ascii(),
            _ => self.operator(byte),
        };
        match self.other.take() {
            _ if self.lost => Step::Lost,
            Some(other) if certain => Step::Split(other),
            _ if !certain => Step::Dead,
            _ => Step::Read,
        }
    }

    fn skip(&mut self, length: usize) -> bool {
        self.at += length;
        true
    }

    fn after(&mut self, length: usize, before: Before) -> bool {
        self.before = before;
        self.newline = false;
        self.head = false;
        self.dot = false;
        self.skip(length)
    }

    fn count(&mut self, units: Units) {
        if let Some(frame) = self.frames.last_mut() {
            frame.run += units;
        }
    }

    /// A token that is no word begins: a `;` before it did end a statement.
    fn token(&mut self) {
        if self.ended && self.before == Before::Operator {
            self.end_statement();
        }
        self.ended = false;
    }

    fn end_statement(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.end_statement();
        }
    }

    fn open(&mut self, open: Open) -> bool {
        self.token();
        self.count(1);
        let below = self.frames.last().map_or(0, |frame| frame.trail);
        self.frames.push(Frame::new(open, below));
        if self.frames.len() > self.deepest.0 {
            self.deepest = (self.frames.len(), self.at);
        }
        self.after(1, Before::Operator)
    }

    fn close(&mut self, byte: u8) -> bool {
        self.ended = false;
        let open = self.frames.last().map_or(Open::Top, |frame| frame.open);
        let fits = match open {
            Open::Top => false,
            Open::Paren(_) => byte == b')',
            Open::Square => byte == b']',
            Open::Brace | Open::Template => byte == b'}',
        };
        if !fits {
            return false;
        }
        let inner = self.frames.pop().map_or(0, |frame| frame.total());
        if let Some(frame) = self.frames.last_mut() {
            frame.child = frame.child.max(inner + BRACKET);
        }
        if open == Open::Template {
            self.at += 1;
            return self.template();
        }
        self.ended = byte == b'}';
        let before = match open {
            Open::Paren(true) => Before::Head,
            Open::Brace => Before::Brace,
            _ => Before::Operand,
        };
        self.after(1, before)
    }

    fn slash(&mut self) -> bool {
        match self.bytes.get(self.at + 1) {
            Some(b'/') => return self.line_comment(),
            Some(b'*') => return self.block_comment(),
            _ => {}
        }
        match self.before {
            // In TypeScript a type may end a line and a regular expression begin the next.
            Before::Operand if self.newline => self.either_slash(),
            Before::Unsure | Before::Brace => self.either_slash(),
            Before::Operand => self.division(),
            Before::Operator | Before::Head => {
                self.token();
                self.regular_expression()
            }
        }
    }

    fn division(&mut self) -> bool {
        self.token();
        self.count(1);
        self.after(1, Before::Operator)
    }

    /// A `/` that may be either. If no other follows on the line it divides; if nothing between the two could open,
    /// close or hide a bracket, it does not matter; otherwise it is read both ways.
    fn either_slash(&mut self) -> bool {
        let (mut at, mut matters, mut weight) = (self.at + 1, false, 2);
        loop {
            match self.bytes.get(at) {
                None => return self.division(),
                Some(_) if terminator(self.bytes, at) > 0 => return self.division(),
                Some(b'/') => break,
                Some(b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b'\'' | b'`' | b'\\' | b'<') => matters = true,
                Some(byte) => weight += Units::from(!byte.is_ascii_alphanumeric()),
            }
            at += 1;
        }
        if matters {
            let mut other = Box::new(self.clone());
            other.token();
            if other.regular_expression() {
                self.other = Some(other);
            }
            return self.division();
        }
        self.token();
        self.count(weight);
        self.at = at + 1;
        self.after(0, Before::Unsure)
    }

    fn line_comment(&mut self) -> bool {
        while self.at < self.bytes.len() && terminator(self.bytes, self.at) == 0 {
            self.at += 1;
        }
        true
    }

    fn block_comment(&mut self) -> bool {
        let rest = self.source.get(self.at + 2..).unwrap_or_default();
        let Some(end) = rest.find("*/") else { return false };
        self.newline |= crate::lines::has_terminator(rest.get(..end).unwrap_or_default());
        self.skip(end + 4)
    }

    fn regular_expression(&mut self) -> bool {
        let mut at = self.at + 1;
        let mut class = false;
        loop {
            match self.bytes.get(at) {
                Some(b'\\') => at += 1,
                Some(b'[') => class = true,
                Some(b']') => class = false,
                Some(b'/') if !class => break,
                Some(_) if terminator(self.bytes, at) == 0 => {}
                _ => return false,
            }
            if terminator(self.bytes, at) > 0 {
                return false;
            }
            at += 1;
        }
        self.at = at + 1;
        self.after(0, Before::Operand)
    }

    fn string(&mut self, quote: u8) -> bool {
        self.token();
        let mut at = self.at + 1;
        loop {
            match self.bytes.get(at) {
                Some(b'\\') => at += 1 + usize::from(self.bytes.get(at + 1..at + 3) == Some(b"\r\n")),
                Some(b'\n' | b'\r') | None => return false,
                Some(&byte) if byte == quote => break,
                Some(_) => {}
            }
            at += 1;
        }
        self.at = at + 1;
        self.after(0, Before::Operand)
    }

    /// The text of a template, from behind its opening or behind a `}`.
    fn template(&mut self) -> bool {
        loop {
            match self.bytes.get(self.at) {
                Some(b'\\') => self.at += 2,
                Some(b'`') => return self.after(1, Before::Operand),
                Some(b'$') if self.bytes.get(self.at + 1) == Some(&b'{') => {
                    self.at += 1;
                    return self.open(Open::Template);
                }
                Some(_) => self.at += 1,
                None => return false,
            }
        }
    }

    fn number(&mut self) -> bool {
        self.token();
        while self.bytes.get(self.at).is_some_and(|&byte| is_word(byte) || byte == b'.') {
            self.at += 1;
            let exponent = matches!(self.bytes.get(self.at.wrapping_sub(1)), Some(b'e' | b'E'));
            if exponent && matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
        }
        self.after(0, Before::Operand)
    }

    fn beyond_ascii(&mut self) -> bool {
        let Some(char) = self.source.get(self.at..).and_then(|rest| rest.chars().next()) else { return false };
        if terminator(self.bytes, self.at) > 0 {
            self.newline = true;
            return self.skip(3);
        }
        if char.is_whitespace() || char == '\u{FEFF}' {
            return self.skip(char.len_utf8());
        }
        self.word()
    }

    fn operator(&mut self, byte: u8) -> bool {
        self.token();
        let last = self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied().unwrap_or(0);
        // The second half of `=>`, `==`, `&&`, `**`, `>>`: no level of its own.
        if !(matches!(byte, b'=' | b'>' | b'&' | b'|' | b'*') && is_operator(last)) {
            self.count(1);
        }
        if byte == b'<' {
            if self.source.get(self.at..).is_some_and(|rest| rest.starts_with("<!--")) {
                self.lost = true;
                return false;
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.angles += BRACKET;
            }
        }
        // `x!`, `x++` and `f<T>` may end an operand.
        let either = match byte {
            b'!' => self.before != Before::Operator,
            b'+' | b'-' => last == byte,
            b'>' => last != b'=',
            _ => false,
        };
        self.after(1, if either { Before::Unsure } else { Before::Operator });
        self.dot = byte == b'.' && last != b'.';
        true
    }

    fn word(&mut self) -> bool {
        let start = self.at;
        let mut plain = true;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => {
                    plain = false;
                    self.at += 1;
                    if self.bytes.get(self.at) == Some(&b'u') && self.bytes.get(self.at + 1) == Some(&b'{') {
                        self.at += 2;
                        while self.bytes.get(self.at).is_some_and(u8::is_ascii_hexdigit) {
                            self.at += 1;
                        }
                        self.at += usize::from(self.bytes.get(self.at) == Some(&b'}'));
                    }
                }
                b'#' if self.at == start => self.at += 1,
                0x80.. => {
                    let char = self.source.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
                    if char.is_whitespace() || char == '\u{FEFF}' {
                        break;
                    }
                    self.at += char.len_utf8();
                }
                byte if is_word(byte) => self.at += 1,
                _ => break,
            }
        }
        let word = self.source.get(start..self.at).unwrap_or_default();
        let property = self.dot;
        let head = !property && (matches!(word, "if" | "while" | "for" | "with") || word == "await" && self.head);
        let (before, counts, continues) = if !plain {
            (Before::Unsure, true, true)
        } else if property {
            (Before::Operand, false, true)
        } else {
            classify(word)
        };
        let operand_before = matches!(self.before, Before::Operand | Before::Brace);
        if !continues && (self.ended || self.newline && operand_before) {
            self.end_statement();
        }
        self.ended = false;
        self.count(u64::from(counts));
        self.after(0, before);
        self.head = head;
        true
    }
}

/// What may follow a word, whether it can open a level, and whether it can carry on what came before it.
fn classify(word: &str) -> (Before, bool, bool) {
    match word {
        "else" | "in" | "instanceof" | "extends" => (Before::Operator, true, true),
        "while" | "catch" | "finally" | "of" | "as" | "satisfies" | "is" | "implements" | "from" => {
            (Before::Unsure, true, true)
        }
        "typeof" | "void" | "delete" | "await" | "yield" | "new" | "return" | "throw" | "case" | "do" => {
            (Before::Operator, true, false)
        }
        "keyof" | "unique" | "readonly" | "infer" | "asserts" | "abstract" | "if" | "for" | "with" | "async"
        | "function" | "class" | "switch" | "try" | "default" | "import" | "export" | "const" | "let" | "var"
        | "enum" | "declare" | "namespace" | "module" | "type" | "interface" | "using" | "static" | "get" | "set"
        | "accessor" | "public" | "private" | "protected" | "override" | "debugger" | "break" | "continue" => {
            (Before::Unsure, true, false)
        }
        _ => (Before::Operand, false, false),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

fn is_operator(byte: u8) -> bool {
    matches!(byte, b'=' | b'!' | b'<' | b'>' | b'&' | b'|' | b'*' | b'+' | b'-' | b'/' | b'%' | b'^' | b'?')
}
