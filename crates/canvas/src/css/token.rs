//! CSS tokens, as far as a canvas attribute needs them.
//!
//! Strict where the standard is: `1.` is the number 1 followed by a stray dot, a string that never ends is kept as
//! it is, and an open parenthesis is closed by the end of the text.

/// One token. Identifiers, functions and units are lower-cased; `text` keeps the original where case matters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Ident {
        lower: String,
        text: String,
    },
    Function(String),
    Hash(String),
    Str(String),
    Number {
        value: f64,
        integer: bool,
        signed: bool,
    },
    Percent(f64),
    Dim(f64, String),
    Comma,
    Open,
    Close,
    Space,
    Delim(char),
    /// An unterminated string: nothing that contains it is valid.
    Bad,
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || c == '-'
}

struct Reader<'a> {
    chars: Vec<char>,
    at: usize,
    out: &'a mut Vec<Token>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn starts_ident(&self, ahead: usize) -> bool {
        match self.peek(ahead) {
            Some('-') => self.peek(ahead + 1).is_some_and(|c| is_name_start(c) || c == '-' || c == '\\'),
            Some('\\') => self.peek(ahead + 1).is_some_and(|c| c != '\n'),
            Some(c) => is_name_start(c),
            None => false,
        }
    }

    fn starts_number(&self) -> bool {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let body = |at: usize| digit(self.peek(at)) || (self.peek(at) == Some('.') && digit(self.peek(at + 1)));
        match self.peek(0) {
            Some('+' | '-') => body(1),
            _ => body(0),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek(0) {
            if is_name(c) {
                name.push(c);
                self.at += 1;
            } else if c == '\\' && self.peek(1).is_some_and(|c| c != '\n') {
                self.at += 1;
                name.push(self.escape());
            } else {
                break;
            }
        }
        name
    }

    fn escape(&mut self) -> char {
        let mut hex = String::new();
        while hex.len() < 6 && self.peek(0).is_some_and(|c| c.is_ascii_hexdigit()) {
            hex.extend(self.peek(0));
            self.at += 1;
        }
        if hex.is_empty() {
            let c = self.peek(0).unwrap_or('\u{fffd}');
            self.at += 1;
            return c;
        }
        if self.peek(0).is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32).filter(|c| *c != '\0').unwrap_or('\u{fffd}')
    }

    fn number(&mut self) -> Token {
        let start = self.at;
        let signed = matches!(self.peek(0), Some('+' | '-'));
        if signed {
            self.at += 1;
        }
        let mut integer = true;
        let digits = |r: &mut Self| {
            while r.peek(0).is_some_and(|c| c.is_ascii_digit()) {
                r.at += 1;
            }
        };
        digits(self);
        if self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            integer = false;
            self.at += 1;
            digits(self);
        }
        if matches!(self.peek(0), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
            if self.peek(1 + sign).is_some_and(|c| c.is_ascii_digit()) {
                integer = false;
                self.at += 1 + sign;
                digits(self);
            }
        }
        let text: String = self.chars[start..self.at].iter().collect();
        let value = text.parse::<f64>().unwrap_or(0.0).clamp(f64::MIN, f64::MAX);
        if self.peek(0) == Some('%') {
            self.at += 1;
            return Token::Percent(value);
        }
        if self.starts_ident(0) {
            return Token::Dim(value, self.name().to_ascii_lowercase());
        }
        Token::Number { value, integer, signed }
    }

    fn string(&mut self, quote: char) -> Token {
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            match c {
                c if c == quote => {
                    self.at += 1;
                    return Token::Str(text);
                }
                '\n' => return Token::Bad,
                '\\' if self.peek(1).is_some() => {
                    self.at += 1;
                    text.push(self.escape());
                }
                c => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
        Token::Str(text)
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            if c == '/' && self.peek(1) == Some('*') {
                self.at += 2;
                while self.at < self.chars.len() && !(self.peek(0) == Some('*') && self.peek(1) == Some('/')) {
                    self.at += 1;
                }
                self.at += 2;
                continue;
            }
            let token = if matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
                while matches!(self.peek(0), Some(' ' | '\t' | '\n' | '\r' | '\u{c}')) {
                    self.at += 1;
                }
                Token::Space
            } else if c == '"' || c == '\'' {
                self.string(c)
            } else if c == '#' && self.peek(1).is_some_and(is_name) {
                self.at += 1;
                Token::Hash(self.name())
            } else if self.starts_number() {
                self.number()
            } else if self.starts_ident(0) {
                let text = self.name();
                if self.peek(0) == Some('(') {
                    self.at += 1;
                    Token::Function(text.to_ascii_lowercase())
                } else {
                    Token::Ident { lower: text.to_ascii_lowercase(), text }
                }
            } else {
                self.at += 1;
                match c {
                    ',' => Token::Comma,
                    '(' => Token::Open,
                    ')' => Token::Close,
                    c => Token::Delim(c),
                }
            };
            self.out.push(token);
        }
    }
}

/// Splits `text` into tokens.
pub(crate) fn tokenize(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    Reader { chars: text.chars().collect(), at: 0, out: &mut out }.run();
    out
}

/// A place in a list of tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    tokens: &'a [Token],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(tokens: &'a [Token]) -> Self {
        Self { tokens }
    }

    pub(crate) fn peek(&self) -> Option<&'a Token> {
        self.tokens.first()
    }

    pub(crate) fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    /// Skips white space; says whether there was any.
    pub(crate) fn skip_space(&mut self) -> bool {
        let mut any = false;
        while let Some(Token::Space) = self.peek() {
            self.next();
            any = true;
        }
        any
    }

    /// Takes the next token past white space when it is `token`.
    pub(crate) fn take(&mut self, token: &Token) -> bool {
        let mut ahead = *self;
        ahead.skip_space();
        if ahead.next() == Some(token) {
            *self = ahead;
            return true;
        }
        false
    }

    /// The next identifier past white space, lower-cased.
    pub(crate) fn ident(&mut self) -> Option<&'a str> {
        let mut ahead = *self;
        ahead.skip_space();
        if let Some(Token::Ident { lower, .. }) = ahead.next() {
            *self = ahead;
            return Some(lower);
        }
        None
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&self) -> bool {
        let mut ahead = *self;
        ahead.skip_space();
        ahead.peek().is_none()
    }

    /// Takes a closing parenthesis, or the end of the text, which closes everything.
    pub(crate) fn close(&mut self) -> bool {
        self.take(&Token::Close) || self.at_end()
    }
}
