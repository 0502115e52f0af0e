//! `URLPattern` by the rules of its standard: a pattern becomes one regular expression for each part of an address.
//! The expressions are compiled and run by the engine, so that they are JavaScript's, end with the run and count as its steps.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rquickjs::{Ctx, Exception, Object, Value};
use urlpattern::quirks::{self, StringOrInit, UrlPatternComponent};
use urlpattern::regexp::RegExp;
use urlpattern::{Error, RegexSyntax, UrlPatternInit, UrlPatternOptions};

use super::put;
use crate::raw;

/// The longest pattern, all parts together. Real ones have a line; parsing takes the square of it.
const MAX_PATTERN_BYTES: usize = 16 << 10;

pub(super) fn install<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    put(
        natives,
        "parsePattern",
        |ctx: Ctx<'js>, input: Value<'js>, base: Value<'js>, ignore_case: bool| -> rquickjs::Result<Vec<Vec<String>>> {
            let given = Given::read(&input, &base);
            if given.bytes() > MAX_PATTERN_BYTES {
                return Err(Exception::throw_type(&ctx, "a URL pattern has at most 16 KiB"));
            }
            let told = given.told();
            guarded(|| compile(given, ignore_case))
                .map_err(|why| Exception::throw_type(&ctx, &format!("{told} is not a URL pattern: {why}")))
        },
    )?;
    put(
        natives,
        "parseInput",
        |ctx: Ctx<'js>, input: Value<'js>, base: Value<'js>| -> rquickjs::Result<Option<Vec<String>>> {
            let given = Given::read(&input, &base);
            guarded(|| parts_of(given)).map_err(|why| Exception::throw_type(&ctx, &why))
        },
    )
}

/// What the constructor, `test` and `exec` take: a text or a dictionary of parts, and a base.
struct Given {
    input: StringOrInit<'static>,
    base: Option<String>,
}

impl Given {
    /// The prelude has made a text of everything; a dictionary is a list in the order of the parts, with the base last.
    fn read(input: &Value<'_>, base: &Value<'_>) -> Self {
        let input = match input.as_array() {
            None => StringOrInit::String(raw::text(input).unwrap_or_default().into()),
            Some(list) => {
                let mut parts = list.iter::<Value<'_>>().map(|part| part.ok().and_then(|part| raw::text(&part)));
                let mut next = || parts.next().flatten();
                StringOrInit::Init(quirks::UrlPatternInit {
                    protocol: next(),
                    username: next(),
                    password: next(),
                    hostname: next(),
                    port: next(),
                    pathname: next(),
                    search: next(),
                    hash: next(),
                    base_url: next(),
                })
            }
        };
        Self { input, base: raw::text(base) }
    }

    fn bytes(&self) -> usize {
        let parts = match &self.input {
            StringOrInit::String(text) => text.len(),
            StringOrInit::Init(init) => parts(init).into_iter().flatten().map(|part| part.len()).sum(),
        };
        parts + self.base.as_ref().map_or(0, String::len)
    }

    /// The pattern as an error names it.
    fn told(&self) -> String {
        match &self.input {
            StringOrInit::String(text) => format!("\"{text}\""),
            StringOrInit::Init(init) => format!(
                "{{{}}}",
                parts(init).into_iter().flatten().map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

fn parts(init: &quirks::UrlPatternInit) -> [Option<&String>; 9] {
    [
        &init.protocol,
        &init.username,
        &init.password,
        &init.hostname,
        &init.port,
        &init.pathname,
        &init.search,
        &init.hash,
        &init.base_url,
    ]
    .map(Option::as_ref)
}

/// An expression that only the engine compiles. Here it is asked one thing: whether a protocol's pattern matches a
/// special scheme, for which Rust's own expressions do.
struct Engines(String);

impl RegExp for Engines {
    fn syntax() -> RegexSyntax {
        RegexSyntax::EcmaScript
    }

    fn parse(pattern: &str, _flags: &str, _force_eval: bool) -> Result<Self, ()> {
        Ok(Self(pattern.to_owned()))
    }

    fn matches<'a>(&self, text: &'a str) -> Option<Vec<Option<&'a str>>> {
        regex::Regex::parse(&self.0, "", false).ok()?.matches(text)
    }

    fn pattern_string(&self) -> &str {
        &self.0
    }
}

/// For each part how it is written, its expression and the names of its groups; last whether any has an expression of the
/// user's own.
fn compile(given: Given, ignore_case: bool) -> Result<Vec<Vec<String>>, Error> {
    let init = match given.input {
        StringOrInit::String(pattern) => {
            let base = given.base.map(|base| base.parse()).transpose().map_err(Error::Url)?;
            UrlPatternInit::parse_constructor_string::<Engines>(&pattern, base)?
        }
        init @ StringOrInit::Init(_) => quirks::process_construct_pattern_input(init, given.base.as_deref())?,
    };
    let options = UrlPatternOptions { regex_syntax: RegexSyntax::EcmaScript, ignore_case };
    let made = quirks::parse_pattern::<Engines>(init, options)?;
    let own = made.has_regexp_groups.to_string();
    let parts =
        [made.protocol, made.username, made.password, made.hostname, made.port, made.pathname, made.search, made.hash];
    let told =
        |part: UrlPatternComponent| [vec![part.pattern_string, part.regexp_string], part.group_name_list].concat();
    Ok(parts.into_iter().map(told).chain([vec![own]]).collect())
}

/// The parts of an address that is to be matched; `None` if it is none.
fn parts_of(given: Given) -> Result<Option<Vec<String>>, Error> {
    let Some((input, _)) = quirks::process_match_input(given.input, given.base.as_deref())? else { return Ok(None) };
    Ok(quirks::parse_match_input(input).map(|parts| {
        vec![
            parts.protocol,
            parts.username,
            parts.password,
            parts.hostname,
            parts.port,
            parts.pathname,
            parts.search,
            parts.hash,
        ]
    }))
}

/// The parser asserts what it expects of its input; a text for which that is wrong is refused like any other.
fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| match error {
            Error::BaseUrlRequired => "it is relative, and no base is given".to_owned(),
            Error::BaseUrlWithInit => "a dictionary of parts has its baseURL inside".to_owned(),
            other => other.to_string(),
        }),
        Err(_) => Err("its parts contradict each other".to_owned()),
    }
}
