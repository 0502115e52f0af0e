//! `file:` addresses by the WHATWG rules. The `url` crate takes some of them another way: it drops a host before a drive
//! letter, and empty folders at the beginning of a path.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Host;

const FRAGMENT: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');
const PATH: &AsciiSet = &FRAGMENT.add(b'#').add(b'?').add(b'{').add(b'}');

/// One address of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileUrl {
    host: String,
    path: Vec<String>,
    query: Option<String>,
    fragment: Option<String>,
}

impl FileUrl {
    /// Reads an address, relative to another one of a file if need be. `None`: it is none. An address of another scheme
    /// is not read here, see [`is_file`].
    pub(super) fn parse(text: &str, base: Option<&Self>) -> Option<Self> {
        let text = tidy(text);
        let rest = match scheme(&text) {
            Some(name) => &text[name.len() + 1..],
            None if base.is_some() => &text,
            None => return None,
        };
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(utf8_percent_encode(fragment, FRAGMENT).to_string())),
            None => (rest, None),
        };
        let (place, query) = match rest.split_once('?') {
            Some((place, query)) => (place, Some(utf8_percent_encode(query, QUERY).to_string())),
            None => (rest, None),
        };
        let mut url = Self { query, fragment, ..Self::default() };
        url.read_place(place, base)?;
        Some(url)
    }

    /// Host and path: what stands before `?` and `#`.
    fn read_place(&mut self, place: &str, base: Option<&Self>) -> Option<()> {
        let is_slash = |at: usize| matches!(place.as_bytes().get(at), Some(b'/' | b'\\'));
        if is_slash(0) && is_slash(1) {
            let rest = &place[2..];
            let end = rest.find(['/', '\\']).unwrap_or(rest.len());
            let host = &rest[..end];
            if is_drive(host) {
                self.read_path(rest);
                return Some(());
            }
            if !host.is_empty() {
                self.host = Host::parse(host).ok()?.to_string();
                if self.host == "localhost" {
                    self.host.clear();
                }
            }
            self.read_path(rest.get(end + 1..).unwrap_or_default());
        } else if is_slash(0) {
            if let Some(base) = base {
                self.host.clone_from(&base.host);
                let drive = base.path.first().filter(|first| is_drive(first) && first.ends_with(':'));
                self.path.extend(drive.filter(|_| !begins_with_drive(&place[1..])).cloned());
            }
            self.read_path(&place[1..]);
        } else if let Some(base) = base {
            self.host.clone_from(&base.host);
            if place.is_empty() {
                self.path.clone_from(&base.path);
                if self.query.is_none() {
                    self.query.clone_from(&base.query);
                }
                return Some(());
            }
            if !begins_with_drive(place) {
                self.path.clone_from(&base.path);
                self.shorten();
            }
            self.read_path(place);
        } else {
            self.read_path(place);
        }
        Some(())
    }

    /// Adds the parts of a path to those that are there.
    fn read_path(&mut self, text: &str) {
        let mut parts = text.split(['/', '\\']).peekable();
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            let dots = part.to_ascii_lowercase().replace("%2e", ".");
            match dots.as_str() {
                ".." => {
                    self.shorten();
                    if is_last {
                        self.path.push(String::new());
                    }
                }
                "." if is_last => self.path.push(String::new()),
                "." => {}
                _ => {
                    let mut part = utf8_percent_encode(part, PATH).to_string();
                    if self.path.is_empty() && is_drive(&part) {
                        part.replace_range(1.., ":");
                    }
                    self.path.push(part);
                }
            }
        }
    }

    fn shorten(&mut self) {
        let is_root = matches!(self.path.as_slice(), [only] if is_drive(only) && only.ends_with(':'));
        if !is_root {
            self.path.pop();
        }
    }

    pub(super) fn set_path(&mut self, value: &str) {
        let value: String = value.chars().filter(|char| !is_blank(*char)).collect();
        self.path.clear();
        self.read_path(value.strip_prefix(['/', '\\']).unwrap_or(&value));
    }

    pub(super) fn set_query(&mut self, value: &str) {
        self.query = part_of(value, '?', QUERY);
    }

    pub(super) fn set_fragment(&mut self, value: &str) {
        self.fragment = part_of(value, '#', FRAGMENT);
    }

    /// In the order of the prelude's getters.
    pub(super) fn parts(&self) -> Vec<String> {
        let path: String = self.path.iter().flat_map(|part| ["/", part]).collect();
        let with =
            |sign: &str, part: &Option<String>| part.as_ref().map_or(String::new(), |part| format!("{sign}{part}"));
        let (query, fragment) = (with("?", &self.query), with("#", &self.fragment));
        let shown = |part: String| if part.len() > 1 { part } else { String::new() };
        vec![
            format!("file://{}{path}{query}{fragment}", self.host),
            "null".to_owned(),
            "file:".to_owned(),
            String::new(),
            String::new(),
            self.host.clone(),
            self.host.clone(),
            String::new(),
            path,
            shown(query),
            shown(fragment),
        ]
    }
}

/// Whether an address is one of a file, by itself or by its base.
pub(super) fn is_file(text: &str, base: Option<&str>) -> bool {
    let text = tidy(text);
    match scheme(&text) {
        Some(name) => name.eq_ignore_ascii_case("file"),
        None => base.is_some_and(|base| is_file(base, None)),
    }
}

/// Without blanks at both ends, and without line ends and tabs anywhere.
fn tidy(text: &str) -> String {
    text.trim_matches(|char: char| char <= ' ').chars().filter(|char| !is_blank(*char)).collect()
}

fn is_blank(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r')
}

/// The scheme that an address begins with.
fn scheme(text: &str) -> Option<&str> {
    let (name, _) = text.split_once(':')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    (is_name && name.starts_with(|first: char| first.is_ascii_alphabetic())).then_some(name)
}

/// `C:` or `C|`.
fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

fn begins_with_drive(text: &str) -> bool {
    text.get(..2).is_some_and(is_drive) && matches!(text.as_bytes().get(2), None | Some(b'/' | b'\\'))
}

/// What is set as query or fragment: nothing, or the text without its sign.
fn part_of(value: &str, sign: char, set: &'static AsciiSet) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    let value: String = value.strip_prefix(sign).unwrap_or(value).chars().filter(|char| !is_blank(*char)).collect();
    Some(utf8_percent_encode(&value, set).to_string())
}
