//! `/docs`: the document as a page to read. Written by the server, without script and without anything from elsewhere.

use std::fmt::Write as _;
use std::sync::OnceLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::openapi;

const STYLE: &str = include_str!("page.css");

/// `/docs`
pub(crate) async fn page() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| render(openapi()));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
            ),
        ),
    ];
    (headers, text.as_str()).into_response()
}

fn render(document: &Value) -> String {
    let mut out = String::with_capacity(256 << 10);
    let info = &document["info"];
    let (title, version) = (text(&info["title"]), text(&info["version"]));
    put(
        &mut out,
        format_args!(
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>{title} {version}</title><style>{STYLE}</style>"
        ),
    );
    put(&mut out, format_args!("<header><h1>{title} <small>{version}</small></h1>"));
    for paragraph in info["description"].as_str().unwrap_or_default().split("\n\n") {
        put(&mut out, format_args!("<p>{}</p>", prose(paragraph)));
    }
    out.push_str(
        "<p>For programs: <a href=/openapi.json>openapi.json</a> (OpenAPI 3.1)</p></header><div class=columns><nav>",
    );
    let tags = document["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
    for tag in tags {
        let name = text(&tag["name"]);
        put(&mut out, format_args!("<a href=\"#{}\">{name}</a>", anchor(&name)));
    }
    out.push_str("<a href=#schemas>schemas</a></nav><main>");
    for tag in tags {
        let name = tag["name"].as_str().unwrap_or_default();
        put(
            &mut out,
            format_args!(
                "<section id=\"{}\"><h2>{}</h2><p>{}</p>",
                anchor(name),
                if name == "javascript" { "JavaScript".to_owned() } else { escape(name) },
                prose(tag["description"].as_str().unwrap_or_default())
            ),
        );
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                if operation["tags"][0] == name {
                    write_operation(&mut out, document, path, method, operation);
                }
            }
        }
        out.push_str("</section>");
    }
    out.push_str("<section id=schemas><h2>schemas</h2>");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        put(
            &mut out,
            format_args!(
                "<details id=\"schema-{0}\"><summary><b>{0}</b> <span>{1}</span></summary>",
                escape(name),
                prose(schema["description"].as_str().unwrap_or_default())
            ),
        );
        write_fields(&mut out, schema);
        out.push_str("</details>");
    }
    out.push_str("</section></main></div></html>");
    out
}

fn write_operation(out: &mut String, document: &Value, path: &str, method: &str, operation: &Value) {
    put(
        out,
        format_args!(
            "<details class=operation><summary><code class={method}>{}</code> <code>{}</code> <span>{}</span></summary>",
            method.to_uppercase(),
            escape(path),
            text(&operation["summary"]),
        ),
    );
    if let Some(description) = operation["description"].as_str() {
        put(out, format_args!("<p>{}</p>", prose(description)));
    }
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        out.push_str("<h4>Parameters</h4><table>");
        for parameter in parameters {
            put(
                out,
                format_args!(
                    "<tr><td><code>{}</code><td>{}<td>{}<td>{}",
                    text(&parameter["name"]),
                    text(&parameter["in"]),
                    kind(&parameter["schema"]),
                    prose(parameter["description"].as_str().unwrap_or_default()),
                ),
            );
        }
        out.push_str("</table>");
    }
    for (media, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        put(out, format_args!("<h4>Body <small>{}</small></h4><p>{}</p>", escape(media), kind(&content["schema"])));
        write_fields(out, resolve(document, &content["schema"]));
    }
    out.push_str("<h4>Answers</h4><table>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let response = resolve(document, response);
        let body = response["content"].as_object().and_then(|content| content.iter().next());
        let shape = body.map(|(media, content)| match kind(&content["schema"]) {
            shape if media == "application/json" => shape,
            shape => format!("{shape} <small>{}</small>", escape(media)),
        });
        let description = prose(response["description"].as_str().unwrap_or_default());
        put(out, format_args!("<tr><td><b>{}</b><td>{}<td>{description}", escape(status), shape.unwrap_or_default()));
    }
    out.push_str("</table></details>");
}

/// An object's fields, or an enumeration's words.
fn write_fields(out: &mut String, schema: &Value) {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("<code>{}</code>", text(word))).collect();
        put(out, format_args!("<p>{}</p>", words.join(" ")));
    }
    let Some(fields) = schema["properties"].as_object() else { return };
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    out.push_str("<table>");
    for (name, field) in fields {
        let mark = if required.iter().any(|one| one == name.as_str()) { "" } else { " <small>optional</small>" };
        let mut notes = Vec::new();
        for (key, label) in [("minimum", "at least"), ("maximum", "at most"), ("default", "else")] {
            if let Some(value) = field.get(key) {
                notes.push(format!("{label} <code>{}</code>", text(value)));
            }
        }
        put(
            out,
            format_args!(
                "<tr><td><code>{}</code>{mark}<td>{}<td>{} {}",
                escape(name),
                kind(field),
                prose(field["description"].as_str().unwrap_or_default()),
                notes.join(", "),
            ),
        );
    }
    out.push_str("</table>");
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    schema["$ref"].as_str().and_then(|path| document.pointer(path.trim_start_matches('#'))).unwrap_or(schema)
}

/// A schema in few words, with a link where it has a name.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("<a href=\"#schema-{0}\">{0}</a>", escape(name));
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(forms) = schema[key].as_array() {
            let forms: Vec<String> = forms.iter().map(kind).collect();
            return forms.join(" or ");
        }
    }
    let word = match &schema["type"] {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        word => word.as_str().unwrap_or("anything").to_owned(),
    };
    if word == "array" { format!("list of {}", kind(&schema["items"])) } else { escape(&word) }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| escape(&value.to_string()), escape)
}

fn anchor(name: &str) -> String {
    name.replace(' ', "-")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escaped, with `code` where the text has back quotes.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) }).collect()
}

/// Writing into a `String` cannot fail.
fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(what);
}
