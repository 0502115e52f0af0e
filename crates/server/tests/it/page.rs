//! The page's door: its files, its cookie, and who may use it.

use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};

use crate::{KEY, OTHER, Place, read};

/// Logs in with this body; the cookie, as a browser would send it back.
async fn enter(place: &Place, body: &Value) -> Result<String, u16> {
    let request = place.without_key("POST", "/page/session").header("x-cove-page", "1").json(body);
    let response = request.send().await.unwrap();
    let Some(line) = response.headers().get(SET_COOKIE) else { return Err(response.status().as_u16()) };
    let line = line.to_str().unwrap();
    assert!(line.contains("HttpOnly; SameSite=Strict"), "{line}");
    Ok(line.split(';').next().unwrap().to_owned())
}

/// The status of a request with this cookie and these headers.
async fn asked(place: &Place, method: &str, path: &str, cookie: &str, headers: &[(&str, &str)]) -> u16 {
    let mut request = place.without_key(method, path).header(COOKIE, cookie);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_key_becomes_a_cookie_that_only_the_page_can_use() {
    let place = Place::new().await;
    for body in [json!({}), json!({ "key": "sk-bay-wrong" }), json!({ "token": "1.session.-.-.9.a.00" }), json!([])] {
        assert_eq!(enter(&place, &body).await, Err(401), "{body}");
    }
    let unmarked = place.without_key("POST", "/page/session").json(&json!({ "key": KEY })).send().await.unwrap();
    assert_eq!(unmarked.status(), 401, "another page cannot log us in");
    let cookie = enter(&place, &json!({ "key": KEY })).await.unwrap();
    assert!(!cookie.contains(KEY));
    let own = format!("http://{}", place.server.address());
    let page = ("x-cove-page", "1");
    let check = async |headers: &[(&str, &str)], status: u16| {
        assert_eq!(asked(&place, "GET", "/v1/profiles", &cookie, headers).await, status, "{headers:?}");
    };
    check(&[page], 200).await;
    check(&[page, ("origin", &own), ("sec-fetch-site", "same-origin")], 200).await;
    check(&[], 401).await;
    check(&[page, ("sec-fetch-site", "same-site")], 401).await;
    check(&[page, ("origin", "http://evil.example")], 401).await;
    // Changed anywhere, or another's: nobody's.
    for wrong in [cookie.replace("session.", "share."), format!("{cookie}0"), cookie.replace("-session-", "-other-")] {
        assert_eq!(asked(&place, "GET", "/v1/profiles", &wrong, &[page]).await, 401, "{wrong}");
    }
    // It is the key's owner, and no more.
    let other = enter(&place, &json!({ "key": OTHER })).await.unwrap();
    assert_eq!(asked(&place, "GET", "/v1/admin/gc/status", &other, &[page]).await, 403);
    assert_eq!(asked(&place, "GET", "/page/host", &other, &[page]).await, 403);
    let id = place.sandbox().await;
    assert_eq!(asked(&place, "GET", &format!("/v1/sandboxes/{id}"), &other, &[page]).await, 404);
    // Left, it is over.
    assert_eq!(asked(&place, "DELETE", "/page/session", &cookie, &[page]).await, 204);
    check(&[page], 401).await;
    place.server.close().await;
}

#[tokio::test]
async fn links_log_in_once_and_shared_ones_only_look() {
    let place = Place::new().await;
    let link = async |body: Value| {
        let (status, answer) = read(place.ask("POST", "/page/links").json(&body).send().await.unwrap()).await;
        assert_eq!(status, 200, "{answer}");
        answer["path"].as_str().unwrap().strip_prefix("/#/open/").unwrap().to_owned()
    };
    let once = link(json!({})).await;
    let cookie = enter(&place, &json!({ "token": once })).await.unwrap();
    assert_eq!(enter(&place, &json!({ "token": once })).await, Err(401));
    // A cookie is no link, and a link is no cookie.
    let value = cookie.split_once('=').unwrap().1;
    assert_eq!(enter(&place, &json!({ "token": value })).await, Err(401));
    let name = cookie.split_once('=').unwrap().0;
    let unused = link(json!({})).await;
    let page = ("x-cove-page", "1");
    assert_eq!(asked(&place, "GET", "/v1/profiles", &format!("{name}={unused}"), &[page]).await, 401);

    let (id, another) = (place.sandbox().await, place.sandbox().await);
    let share = link(json!({ "sandbox_id": id, "seconds": 60 })).await;
    let looks = enter(&place, &json!({ "token": share })).await.unwrap();
    assert!(enter(&place, &json!({ "token": share })).await.is_ok(), "a shared link is for several people");
    let check = async |method: &str, path: &str, status: u16| {
        assert_eq!(asked(&place, method, path, &looks, &[page]).await, status, "{method} {path}");
    };
    check("GET", &format!("/v1/sandboxes/{id}"), 200).await;
    check("GET", &format!("/sandboxes/{id}/history"), 200).await;
    check("GET", "/page/session", 200).await;
    for (method, path) in [
        ("GET", format!("/v1/sandboxes/{another}")),
        ("GET", format!("/v1/sandboxes/{id}0")),
        ("GET", format!("/v1/sandboxes/{id}/terminal")),
        ("GET", "/v1/sandboxes".to_owned()),
        ("GET", "/v1/profiles".to_owned()),
        ("GET", "/mcp".to_owned()),
        ("DELETE", format!("/v1/sandboxes/{id}")),
        ("POST", format!("/v1/sandboxes/{id}/stop")),
        ("POST", "/page/links".to_owned()),
        ("POST", "/mcp".to_owned()),
        ("GET", "/page/host".to_owned()),
    ] {
        check(method, &path, 403).await;
    }
    for wrong in [json!({ "seconds": 0 }), json!({ "seconds": 99_999_999 }), json!({ "sandbox_id": 1 })] {
        assert_eq!(place.ask("POST", "/page/links").json(&wrong).send().await.unwrap().status(), 422, "{wrong}");
    }
    let missing = json!({ "sandbox_id": "sandbox-0123456789ab" });
    assert_eq!(place.ask("POST", "/page/links").json(&missing).send().await.unwrap().status(), 404);
    place.server.close().await;
}

/// Where no key is needed, the page needs none either; another page, another name and a proxy still do.
#[tokio::test]
async fn nobody_logs_in_where_no_key_is_needed() {
    let place = Place::with(|options| options.allow_anonymous = true).await;
    let cookie = enter(&place, &json!({})).await.unwrap();
    let page = ("x-cove-page", "1");
    let own = format!("http://{}", place.server.address());
    let check = async |headers: &[(&str, &str)], status: u16| {
        assert_eq!(asked(&place, "GET", "/v1/profiles", &cookie, headers).await, status, "{headers:?}");
    };
    check(&[page, ("origin", &own)], 200).await;
    check(&[page, ("origin", "http://evil.example")], 401).await;
    check(&[page, ("x-forwarded-for", "10.0.0.1")], 401).await;
    check(&[("origin", &own)], 401).await;
    for (name, value) in [("host", "evil.example"), ("x-forwarded-for", "10.0.0.1"), ("origin", "http://evil.example")]
    {
        let request = place.without_key("POST", "/page/session").header("x-cove-page", "1").header(name, value);
        assert_eq!(request.send().await.unwrap().status(), 401, "{name}: {value}");
    }
    place.server.close().await;
}

#[tokio::test]
async fn the_pages_files_have_a_policy_and_a_version() {
    let place = Place::new().await;
    let html = |request: reqwest::RequestBuilder| request.header("accept", "text/html,*/*");
    let response = html(place.without_key("GET", "/")).send().await.unwrap();
    let headers = response.headers().clone();
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(response.text().await.unwrap().starts_with("<!doctype html>"), "unpacked for who asks for nothing packed");
    let again = html(place.without_key("GET", "/")).header("if-none-match", &headers["etag"]);
    assert_eq!(again.send().await.unwrap().status(), 304);
    let packed = place.without_key("GET", "/page/main.js").header("accept-encoding", "br, gzip").send().await.unwrap();
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    assert!(packed.headers()["content-type"].to_str().unwrap().starts_with("text/javascript"));
    for nothing in ["/page/index.html", "/page/x.js", "/page/..%2fmain.js", "/page/"] {
        assert_eq!(place.without_key("GET", nothing).send().await.unwrap().status(), 404, "{nothing}");
    }
    // Programs get what they always got.
    let list = place.without_key("GET", "/").send().await.unwrap();
    assert_eq!(list.url().path(), "/docs");
    place.server.close().await;
}
