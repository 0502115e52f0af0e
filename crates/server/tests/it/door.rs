//! Who may come in, what every answer has, and how each wrong request is refused.

use std::num::NonZeroU32;

use cove_server::{KeySpec, ServerOptions, limits};
use serde_json::{Value, json};

use crate::{KEY, OTHER, Place, read};

const NOBODY: &str = "/v1/sandboxes/sandbox-0123456789ab";

#[tokio::test]
async fn health_needs_no_key_and_everything_else_does() {
    let place = Place::new().await;
    let (status, body) = read(place.without_key("GET", "/health").send().await.unwrap()).await;
    assert_eq!((status, &body["status"]), (200, &json!("ok")));
    assert!(body["version"].is_string());
    for (method, path) in
        [("GET", "/v1/sandboxes"), ("POST", "/v1/sandboxes"), ("GET", "/sandboxes"), ("GET", "/v1/profiles")]
    {
        for key in [None, Some("Bearer wrong"), Some("Basic abc"), Some("Bearer"), Some("")] {
            let mut request = place.without_key(method, path);
            if let Some(key) = key {
                request = request.header("authorization", key);
            }
            let response = request.send().await.unwrap();
            assert!(response.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"), "{key:?}");
            let (status, body) = read(response).await;
            assert_eq!((status, &body["error"]["code"]), (401, &json!("unauthorized")), "{method} {path} {key:?}");
        }
    }
    let (status, _) = read(
        place.without_key("GET", "/v1/profiles").header("authorization", format!("bearer {KEY}")).send().await.unwrap(),
    )
    .await;
    assert_eq!(status, 200, "the scheme's case does not matter");
    place.server.close().await;
}

/// Each wrong request, its status, and what its body says.
#[tokio::test]
async fn every_error_has_its_shape_and_the_requests_id() {
    let place = Place::new().await;
    let check = async |method: &str, path: &str, body: Option<&str>, status: u16, code: &str| {
        let mut request = place.ask(method, path).header("x-request-id", "mine-1");
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["x-request-id"], "mine-1", "{method} {path}");
        assert_eq!(response.headers()["content-type"], "application/json", "{method} {path}");
        let (seen, answer) = read(response).await;
        assert_eq!(seen, status, "{method} {path}: {answer}");
        if status == 422 {
            let loc: Vec<&str> =
                answer["detail"][0]["loc"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert_eq!(loc.join("."), code, "{method} {path} {body:?}: {answer}");
            assert!(
                !answer["detail"][0]["msg"].as_str().unwrap().is_empty() && answer["detail"][0]["type"].is_string()
            );
        } else {
            let error = &answer["error"];
            assert_eq!(
                (error["code"].as_str().unwrap(), error["request_id"].as_str().unwrap()),
                (code, "mine-1"),
                "{path}"
            );
            assert!(!error["message"].as_str().unwrap().is_empty());
        }
    };
    let exec = format!("{NOBODY}/shell/exec");
    let exec = exec.as_str();
    check("GET", "/nowhere", None, 404, "not_found").await;
    check("GET", "/v1", None, 404, "not_found").await;
    check("GET", "/v1/nowhere", None, 404, "not_found").await;
    check("GET", NOBODY, None, 404, "not_found").await;
    check("GET", "/v1/sandboxes/%ff", None, 404, "not_found").await;
    check("GET", "/v1/sandboxes/..%2f..%2fetc", None, 404, "not_found").await;
    check("PATCH", "/v1/sandboxes", None, 405, "validation_error").await;
    check("GET", exec, None, 405, "validation_error").await;
    check("POST", exec, None, 422, "body.command").await;
    check("POST", exec, Some("{}"), 422, "body.command").await;
    check("POST", exec, Some("{"), 422, "body").await;
    check("POST", exec, Some("null"), 422, "body").await;
    check("POST", exec, Some(r#"{"command": 1}"#), 422, "body.command").await;
    check("POST", exec, Some(r#"{"command": "x", "timeout": 0}"#), 422, "body.timeout").await;
    check("POST", exec, Some(r#"{"command": "x", "timeout": 301}"#), 422, "body.timeout").await;
    check("POST", exec, Some(r#"{"command": "x", "timeout": -1}"#), 422, "body.timeout").await;
    check("POST", exec, Some(r#"{"command": "x", "other": 1}"#), 404, "not_found").await;
    check("POST", "/v1/sandboxes", Some(r#"{"ttl": -1}"#), 422, "body.ttl").await;
    check("POST", "/v1/sandboxes", Some(r#"{"profile": "nobody"}"#), 400, "validation_error").await;
    check("POST", &format!("{NOBODY}/extend_ttl"), Some(r#"{"extend_by": 0}"#), 422, "body.extend_by").await;
    check("POST", "/v1/cargos", Some(r#"{"size_limit_mb": 65537}"#), 422, "body.size_limit_mb").await;
    check("POST", "/v1/cargos", Some(r#"{"size_limit_mb": 0}"#), 422, "body.size_limit_mb").await;
    check("POST", &format!("{NOBODY}/browser/exec_batch"), Some(r#"{"commands": []}"#), 422, "body.commands").await;
    check("POST", "/v1/skills/payloads", Some(r#"{"payload": 1}"#), 422, "body.payload").await;
    for query in ["limit=0", "limit=201", "limit=x", "status=happy"] {
        let name = query.split('=').next().unwrap();
        check("GET", &format!("/v1/sandboxes?{query}"), None, 422, &format!("query.{name}")).await;
    }
    check("GET", &format!("{NOBODY}/history?limit=501"), None, 422, "query.limit").await;
    check("GET", &format!("{NOBODY}/filesystem/files"), None, 422, "query.path").await;
    place.server.close().await;
}

#[tokio::test]
async fn a_made_request_id_is_new_each_time() {
    let place = Place::new().await;
    let mut seen = Vec::new();
    for given in [None, None, Some("a b"), Some("x\"y")] {
        let mut request = place.without_key("GET", "/health");
        if let Some(given) = given {
            request = request.header("x-request-id", given);
        }
        seen.push(request.send().await.unwrap().headers()["x-request-id"].to_str().unwrap().to_owned());
    }
    assert!(seen.iter().all(|id| id.starts_with("req-")), "{seen:?}");
    let mut distinct = seen.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), seen.len());
    place.server.close().await;
}

#[tokio::test]
async fn wrong_methods_say_which_are_right() {
    let place = Place::new().await;
    let response = place.ask("PUT", "/v1/cargos").send().await.unwrap();
    assert_eq!(response.status(), 405);
    let allow = response.headers()["allow"].to_str().unwrap().to_owned();
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
    place.server.close().await;
}

#[tokio::test]
async fn bodies_have_a_size() {
    let place = Place::new().await;
    let path = format!("{NOBODY}/filesystem/files");
    // Announced: refused before it is sent. Streamed: refused when it is too much.
    let announced = place.ask("PUT", &path).header("content-type", "application/json").header("expect", "100-continue");
    let response = announced.body(vec![b' '; limits::MAX_JSON_BYTES + 1]).send().await.unwrap();
    let (status, body) = read(response).await;
    assert_eq!(
        (status, &body["error"]["code"], &body["error"]["details"]["limit_bytes"]),
        (413, &json!("validation_error"), &json!(limits::MAX_JSON_BYTES))
    );
    let long = "x".repeat(100_000);
    let response = place.without_key("GET", "/health").header("x-long", long).send().await.unwrap();
    assert_eq!(response.status(), 431);
    place.server.close().await;
}

#[tokio::test]
async fn other_types_than_json_are_refused() {
    let place = Place::new().await;
    let check = async |kind: &str, status: u16| {
        let request = place.ask("POST", "/v1/cargos").header("content-type", kind).body(r#"{"size_limit_mb": 0}"#);
        let (seen, body) = read(request.send().await.unwrap()).await;
        assert_eq!(seen, status, "{kind}: {body}");
        body["detail"][0]["type"].as_str().unwrap().to_owned()
    };
    assert_eq!(check("text/plain", 422).await, "content_type");
    assert_eq!(check("application/x-www-form-urlencoded", 422).await, "content_type");
    assert_eq!(check("application/json; charset=utf-8", 422).await, "greater_than_equal");
    place.server.close().await;
}

#[tokio::test]
async fn idempotency_keys_have_a_form() {
    let place = Place::new().await;
    for key in ["", "a b", "ä", &"x".repeat(129)] {
        let request = place.ask("POST", "/v1/cargos").header("idempotency-key", key.as_bytes());
        let (status, body) = read(request.send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (409, &json!("conflict")), "{key}");
    }
    place.server.close().await;
}

#[tokio::test]
async fn a_key_that_comes_too_often_is_told_when_to_come_back() {
    let rate = |options: &mut ServerOptions| {
        options.keys =
            vec![KeySpec { rate_per_minute: NonZeroU32::new(3), ..KeySpec::only(KEY) }, KeySpec::of("other", OTHER)];
    };
    let place = Place::with(rate).await;
    for _ in 0..3 {
        assert_eq!(place.ask("GET", "/v1/profiles").send().await.unwrap().status(), 200);
    }
    let response = place.ask("GET", "/v1/profiles").send().await.unwrap();
    let wait: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=20).contains(&wait), "{wait}");
    let (status, body) = read(response).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!("quota_exceeded")));
    let other = place.without_key("GET", "/v1/profiles").bearer_auth(OTHER).send().await.unwrap();
    assert_eq!(other.status(), 200, "another key is not concerned");
    place.server.close().await;
}

#[tokio::test]
async fn the_collector_is_for_administrators() {
    let place = Place::new().await;
    assert_eq!(place.ask("GET", "/v1/admin/gc/status").send().await.unwrap().status(), 200);
    for (method, path) in [("GET", "/v1/admin/gc/status"), ("POST", "/v1/admin/gc/run")] {
        let (status, body) = read(place.without_key(method, path).bearer_auth(OTHER).send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!("forbidden")), "{path}");
    }
    place.server.close().await;
}

/// Without a key: only where it is switched on, only from this machine, and not for any page that a browser here shows.
#[tokio::test]
async fn anonymous_callers_are_local_programs() {
    let place = Place::with(|options| options.allow_anonymous = true).await;
    let check = async |name: &str, value: &str, status: u16| {
        let mut request = place.without_key("GET", "/v1/profiles");
        if !name.is_empty() {
            request = request.header(name, value);
        }
        assert_eq!(request.send().await.unwrap().status(), status, "{name}: {value}");
    };
    check("", "", 200).await;
    check("host", "localhost:8114", 200).await;
    check("host", "[::1]:8114", 200).await;
    check("host", "evil.example", 401).await;
    check("host", "127.0.0.1.evil.example", 401).await;
    check("origin", "https://evil.example", 401).await;
    check("sec-fetch-site", "cross-site", 401).await;
    check("x-forwarded-for", "10.0.0.1", 401).await;
    check("authorization", "Bearer wrong", 401).await;
    place.server.close().await;
}

#[tokio::test]
async fn pages_may_call_only_from_named_origins() {
    let asked = |place: &Place, origin: &str| {
        let request = place.without_key("OPTIONS", "/v1/sandboxes").header("origin", origin);
        request.header("access-control-request-method", "POST")
    };
    let closed = Place::new().await;
    let response = asked(&closed, "https://app.example").send().await.unwrap();
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    closed.server.close().await;
    let open = Place::with(|options| options.cors_origins = vec!["https://app.example".to_owned()]).await;
    let response = asked(&open, "https://app.example").send().await.unwrap();
    assert_eq!(response.headers()["access-control-allow-origin"], "https://app.example");
    let response = asked(&open, "https://evil.example").send().await.unwrap();
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    open.server.close().await;
}

#[tokio::test]
async fn metrics_count_what_came() {
    let place = Place::new().await;
    for _ in 0..3 {
        place.ask("GET", "/v1/profiles").send().await.unwrap();
    }
    place.without_key("GET", "/v1/profiles").send().await.unwrap();
    let text = place.without_key("GET", "/metrics").send().await.unwrap().text().await.unwrap();
    let line = r#"cove_http_requests_total{method="GET",route="/v1/profiles",status="200"} 3"#;
    assert!(text.contains(line), "{text}");
    assert!(text.contains(r#"cove_http_errors_total{code="unauthorized"} 1"#), "{text}");
    assert!(text.contains("cove_http_request_seconds_bucket"), "{text}");
    assert!(!text.contains(KEY));
    // Seen from elsewhere, metrics need a key.
    let proxied = |request: reqwest::RequestBuilder| request.header("x-forwarded-for", "10.0.0.1");
    assert_eq!(proxied(place.without_key("GET", "/metrics")).send().await.unwrap().status(), 401);
    assert_eq!(proxied(place.ask("GET", "/metrics")).send().await.unwrap().status(), 200);
    place.server.close().await;
}
