//! What Intl stands on: `cove-intl`, asked by specification.
//!
//! A formatter lies outside of the engine's heap. So none belongs to an object of the guest's: the object has its specification
//! as text, and so many formatters are kept here, by that text, as the last programs needed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use cove_intl::{
    Collator, DateFormat, DisplayNames, Granularity, IntlError, Library, ListFormat, LocaleParts, NumberFormat, Part,
    PluralFormat, RangePart, RelativeFormat, Segmenter,
};
use rquickjs::{Ctx, Exception, IntoJs, Object, Value};
use serde::de::DeserializeOwned;

use super::{put, string};
use crate::raw;

/// How many formatters of one kind are kept.
const MAX_KEPT: usize = 16;

/// The longest specification; options are few and short.
const MAX_SPEC: usize = 64 << 10;

/// Formatters of one kind by their specification.
struct FormatterCache<T> {
    library: Rc<Library>,
    kept: RefCell<HashMap<String, Rc<T>>>,
}

impl<T> FormatterCache<T> {
    fn new(library: &Rc<Library>) -> Rc<Self> {
        Rc::new(Self { library: Rc::clone(library), kept: RefCell::default() })
    }

    fn get<S: DeserializeOwned>(
        &self,
        ctx: &Ctx<'_>,
        spec: &Value<'_>,
        make: impl Fn(&Library, &S) -> Result<T, IntlError>,
    ) -> rquickjs::Result<Rc<T>> {
        let spec = string(spec)?;
        if let Some(found) = self.kept.borrow().get(&spec) {
            return Ok(Rc::clone(found));
        }
        let refuse = |why: &str| Exception::throw_range(ctx, why);
        if spec.len() > MAX_SPEC {
            return Err(refuse("the options are too long"));
        }
        let read: S = serde_json::from_str(&spec).map_err(|error| refuse(&error.to_string()))?;
        let made = Rc::new(told(ctx, make(&self.library, &read))?);
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(spec, Rc::clone(&made));
        Ok(made)
    }
}

fn told<T>(ctx: &Ctx<'_>, result: Result<T, IntlError>) -> rquickjs::Result<T> {
    result.map_err(|error| refused(ctx, &error))
}

/// A `RangeError`; where Chrome has what is missing here, it says so in a field, by which `auto` knows it.
fn refused(ctx: &Ctx<'_>, error: &IntlError) -> rquickjs::Error {
    let thrown = Exception::throw_range(ctx, &error.to_string());
    if !error.is_elsewhere() || !thrown.is_exception() {
        return thrown;
    }
    let value = ctx.catch();
    if let (Some(object), Ok(browser)) = (value.as_object(), "browser".into_js(ctx)) {
        drop(raw::define(object, "engine", &browser, true, false, true));
    }
    ctx.throw(value)
}

fn flat(parts: Vec<Part>) -> Vec<String> {
    parts.into_iter().flat_map(|part| [part.kind.to_owned(), part.text]).collect()
}

fn flat_range(parts: Vec<RangePart>) -> Vec<String> {
    let pieces = parts.into_iter();
    pieces.flat_map(|piece| [piece.part.kind.to_owned(), piece.part.text, piece.source.to_owned()]).collect()
}

pub(super) fn install<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    let library = Rc::new(Library::new());
    locales(natives, &library)?;
    numbers(natives, &library)?;
    dates(natives, &library)?;
    words(natives, &library)
}

fn locales<'js>(natives: &Object<'js>, library: &Rc<Library>) -> rquickjs::Result<()> {
    put(natives, "canonical", |ctx: Ctx<'js>, tag: Value<'js>| told(&ctx, cove_intl::canonical(&string(&tag)?)))?;
    put(natives, "maximize", |ctx: Ctx<'js>, tag: String| told(&ctx, cove_intl::maximized(&tag)))?;
    put(natives, "minimize", |ctx: Ctx<'js>, tag: String| told(&ctx, cove_intl::minimized(&tag)))?;
    put(natives, "localeParts", |ctx: Ctx<'js>, tag: String| -> rquickjs::Result<Vec<String>> {
        let parts = told(&ctx, LocaleParts::of(&tag))?;
        let LocaleParts { base, language, script, region, keywords } = parts;
        let mut made = vec![base, language, script.unwrap_or_default(), region.unwrap_or_default()];
        made.extend(keywords.into_iter().flat_map(|(key, value)| [key, value]));
        Ok(made)
    })?;
    let known = Rc::clone(library);
    put(natives, "supports", move |ctx: Ctx<'js>, tag: String| told(&ctx, known.supports(&tag)))?;
    let known = Rc::clone(library);
    put(natives, "weekInfo", move |ctx: Ctx<'js>, tag: String| told(&ctx, known.week(&tag)))?;
    let known = Rc::clone(library);
    put(natives, "values", move |ctx: Ctx<'js>, kind: String| told(&ctx, known.values(&kind)))?;
    let known = Rc::clone(library);
    put(natives, "currencyDigits", move |ctx: Ctx<'js>, code: String| told(&ctx, known.currency_digits(&code)))?;
    put(natives, "upper", |ctx: Ctx<'js>, text: Value<'js>, tag: String| {
        told(&ctx, cove_intl::upper(&string(&text)?, &tag))
    })?;
    put(natives, "lower", |ctx: Ctx<'js>, text: Value<'js>, tag: String| {
        told(&ctx, cove_intl::lower(&string(&text)?, &tag))
    })
}

fn numbers<'js>(natives: &Object<'js>, library: &Rc<Library>) -> rquickjs::Result<()> {
    let cache = FormatterCache::new(library);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, NumberFormat::new);
    let find = get.clone();
    put(natives, "numberInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<Vec<String>> {
        let format = find(&ctx, &spec)?;
        Ok(vec![format.locale().to_owned(), format.numbering_system().to_owned()])
    })?;
    let find = get.clone();
    put(natives, "numberFormat", move |ctx: Ctx<'js>, spec: Value<'js>, number: String| {
        told(&ctx, find(&ctx, &spec)?.format(&number))
    })?;
    let find = get.clone();
    put(natives, "numberParts", move |ctx: Ctx<'js>, spec: Value<'js>, number: String| {
        told(&ctx, find(&ctx, &spec)?.parts(&number)).map(flat)
    })?;
    put(natives, "numberRange", move |ctx: Ctx<'js>, spec: Value<'js>, start: String, end: String| {
        told(&ctx, get(&ctx, &spec)?.range_parts(&start, &end)).map(flat_range)
    })?;
    let cache = FormatterCache::new(library);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, PluralFormat::new);
    let find = get.clone();
    put(natives, "pluralInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<Vec<String>> {
        let rules = find(&ctx, &spec)?;
        let forms = rules.categories().into_iter().map(str::to_owned);
        Ok(std::iter::once(rules.number().locale().to_owned()).chain(forms).collect())
    })?;
    let find = get.clone();
    put(natives, "pluralSelect", move |ctx: Ctx<'js>, spec: Value<'js>, number: String| {
        told(&ctx, find(&ctx, &spec)?.select(&number))
    })?;
    put(natives, "pluralRange", move |ctx: Ctx<'js>, spec: Value<'js>, start: String, end: String| {
        told(&ctx, get(&ctx, &spec)?.select_range(&start, &end))
    })?;
    let cache = FormatterCache::new(library);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, RelativeFormat::new);
    let find = get.clone();
    put(natives, "relativeInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<Vec<String>> {
        let format = find(&ctx, &spec)?;
        Ok(vec![format.number().locale().to_owned(), format.number().numbering_system().to_owned()])
    })?;
    put(natives, "relativeParts", move |ctx: Ctx<'js>, spec: Value<'js>, value: String, unit: String| {
        told(&ctx, get(&ctx, &spec)?.parts(&value, &unit)).map(flat)
    })
}

fn dates<'js>(natives: &Object<'js>, library: &Rc<Library>) -> rquickjs::Result<()> {
    let cache = FormatterCache::new(library);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, DateFormat::new);
    let find = get.clone();
    put(natives, "dateInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<String> {
        Ok(find(&ctx, &spec)?.resolved().to_string())
    })?;
    let find = get.clone();
    put(natives, "dateFormat", move |ctx: Ctx<'js>, spec: Value<'js>, millis: f64| {
        told(&ctx, find(&ctx, &spec)?.format(millis))
    })?;
    let find = get.clone();
    put(natives, "dateParts", move |ctx: Ctx<'js>, spec: Value<'js>, millis: f64| {
        told(&ctx, find(&ctx, &spec)?.parts(millis)).map(flat)
    })?;
    put(natives, "dateRange", move |ctx: Ctx<'js>, spec: Value<'js>, start: f64, end: f64| {
        told(&ctx, get(&ctx, &spec)?.range_parts(start, end)).map(flat_range)
    })
}

fn words<'js>(natives: &Object<'js>, library: &Rc<Library>) -> rquickjs::Result<()> {
    let cache = FormatterCache::new(library);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, Collator::new);
    let find = get.clone();
    put(natives, "collatorInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<Vec<String>> {
        let order = find(&ctx, &spec)?;
        let (numeric, ignores) = (order.numeric.to_string(), order.ignore_punctuation.to_string());
        Ok(vec![order.locale.clone(), order.collation.clone(), numeric, order.case_first.clone(), ignores])
    })?;
    put(
        natives,
        "compare",
        move |ctx: Ctx<'js>, spec: Value<'js>, one: Value<'js>, other: Value<'js>| -> rquickjs::Result<i32> {
            Ok(get(&ctx, &spec)?.compare(&string(&one)?, &string(&other)?) as i32)
        },
    )?;
    let cache = FormatterCache::new(library);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, ListFormat::new);
    let find = get.clone();
    put(natives, "listInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<String> {
        Ok(find(&ctx, &spec)?.locale().to_owned())
    })?;
    put(
        natives,
        "listParts",
        move |ctx: Ctx<'js>, spec: Value<'js>, items: Vec<String>| -> rquickjs::Result<Vec<String>> {
            Ok(flat(get(&ctx, &spec)?.parts(&items)))
        },
    )?;
    let cache = FormatterCache::new(library);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, DisplayNames::new);
    let find = get.clone();
    put(natives, "namesInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<String> {
        Ok(find(&ctx, &spec)?.locale().to_owned())
    })?;
    put(natives, "nameOf", move |ctx: Ctx<'js>, spec: Value<'js>, code: String| {
        told(&ctx, get(&ctx, &spec)?.of(&code))
    })?;
    let cache = FormatterCache::new(library);
    let make = |library: &Library, spec: &(Vec<String>, Granularity)| Segmenter::new(library, &spec.0, spec.1);
    let get = move |ctx: &Ctx<'js>, spec: &Value<'js>| cache.get(ctx, spec, make);
    let find = get.clone();
    put(natives, "segmenterInfo", move |ctx: Ctx<'js>, spec: Value<'js>| -> rquickjs::Result<String> {
        Ok(find(&ctx, &spec)?.locale().to_owned())
    })?;
    // Where each piece ends; a negative number is the end of a word.
    put(natives, "segments", move |ctx: Ctx<'js>, spec: Value<'js>, text: Value<'js>| -> rquickjs::Result<Vec<i32>> {
        let pieces = get(&ctx, &spec)?.segments(&string(&text)?);
        let ends = pieces.into_iter().map(|piece| {
            let end = i32::try_from(piece.end).unwrap_or(i32::MAX);
            if piece.is_word { -end } else { end }
        });
        Ok(ends.collect())
    })
}
