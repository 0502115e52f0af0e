//! `fetch` in the embedded engine, against real servers: what a policy opens works, and nothing else is reached.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;
mod stage;

use std::sync::Arc;

use cove_core::{Effects, Engine, FaultKind, Limits, SessionFate, SessionOptions, ToolSet, ToolSpec};
use cove_embedded::EmbeddedEngine;
use serde_json::{Value, json};
use site::{Site, opened};
use stage::{PATIENCE_MS, body, engine};

async fn value(engine: &EmbeddedEngine, options: SessionOptions, code: &str) -> Value {
    let mut session = engine.open(options).await.unwrap();
    let report = session.run(&body(code, PATIENCE_MS)).await;
    session.close().await.unwrap();
    report.result.unwrap_or_else(|fault| panic!("{code}: {}", fault.message)).value
}

/// Runs `fetch(URL)` and gives what it is rejected with.
async fn rejected(engine: &EmbeddedEngine, options: SessionOptions, arguments: &str) -> String {
    let code = format!(
        "try {{ const r = await fetch({arguments}); return 'in: ' + r.status }} catch (e) {{ return String(e) }}"
    );
    value(engine, options, &code).await.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_request_goes_out_and_its_answer_comes_in() {
    let (engine, site) = (engine(), Site::open().await);
    let code = format!(
        r"const r = await fetch('{url}?q=ä#part', {{ method: 'post', body: 'grüße', headers: {{
            'X-Own': 'yes', Host: 'other.example', 'Content-Length': '1', Connection: 'keep-alive', Cookie: 'c=1',
            'Transfer-Encoding': 'chunked', 'Proxy-Authorization': 'x', 'Accept-Encoding': 'gzip' }} }});
          const copy = r.clone();
          const said = await r.json();
          return [r.ok, r.status, r.statusText, r.type, r.redirected, r.url, r.bodyUsed, r.headers.get('content-type'),
            said.line, said.body, said.headers, (await copy.text()).length > 0, await r.text().catch((e) => e.name)]",
        url = site.url("/echo")
    );
    let host = site.address.to_string();
    let sent = json!({
        "x-own": "yes", "cookie": "c=1", "content-type": "text/plain;charset=UTF-8", "host": host, "connection": "close",
        "accept-encoding": "identity", "accept": "*/*", "user-agent": format!("cove/{}", env!("CARGO_PKG_VERSION")),
        "content-length": "7",
    });
    let url = site.url("/echo?q=%C3%A4");
    let expected = json!([
        true,
        200,
        "OK",
        "basic",
        false,
        url,
        true,
        "application/json",
        "POST /echo?q=%C3%A4 HTTP/1.1",
        "grüße",
        sent,
        true,
        "TypeError"
    ]);
    assert_eq!(value(&engine, site.options(), &code).await, expected);
}

/// Every way to read an answer, and answers of every form.
#[tokio::test]
async fn answers_are_read_in_every_form() {
    let (engine, site) = (engine(), Site::open().await);
    let code = format!(
        r"const get = (path, init) => fetch('http://{}' + path, init);
          const cookies = (await get('/cookies')).headers;
          const blob = await (await get('/chunks')).blob();
          const buffer = await (await get('/chunks')).arrayBuffer();
          const none = await get('/status?204%20Nothing');
          return [
            await (await get('/chunks')).text(), blob.size, new Uint8Array(buffer)[0], [...await (await get('/bytes?3')).bytes()],
            cookies.getSetCookie(), cookies.get('x-word'), [...cookies].length,
            none.status, none.statusText, await none.text(), (await get('/status?404%20Not')).ok, (await get('/status?500%20No')).status,
            (await get('/echo', {{ method: 'HEAD' }})).status, (await (await get('/echo', {{ method: 'patch' }})).json()).line,
            (await (await fetch(new Request('http://{0}/echo', {{ method: 'PUT', body: new Uint8Array([104, 105]) }}))).json()).body,
          ]",
        site.address
    );
    let seen = value(&engine, site.options(), &code).await;
    assert_eq!(
        seen,
        json!([
            "onetwo",
            6,
            111,
            [120, 120, 120],
            ["a=1", "b=2"],
            "café",
            4,
            204,
            "Nothing",
            "",
            false,
            500,
            200,
            "patch /echo HTTP/1.1",
            "hi"
        ])
    );
}

/// What the policy does not open is refused before anybody is asked, and says what is open.
#[tokio::test]
async fn nothing_else_is_reached() {
    let (engine, site, other) = (engine(), Site::open().await, Site::open().await);
    let port = site.address.port();
    let check = async |url: &str, word: &str| {
        let said = rejected(&engine, site.options(), &format!("'{url}'")).await;
        assert!(said.starts_with("TypeError: ") && said.contains(word), "{url}: {said}");
    };
    check(&other.url("/echo"), &format!("is not on the list of opened hosts (this session has: {})", site.address))
        .await;
    check(&format!("http://localhost:{port}/"), "is not on the list").await;
    check(&format!("http://[::1]:{port}/"), "is not on the list").await;
    check(&format!("http://[::ffff:127.0.0.1]:{port}/"), "is not on the list").await;
    check(&format!("http://0.0.0.0:{port}/"), "is not on the list").await;
    check("http://169.254.169.254/latest", "is not on the list").await;
    check("https://example.com/", "is not on the list").await;
    let mut session = engine.open(site.options()).await.unwrap();
    let report = session.run(&body("await fetch('https://example.com/')", PATIENCE_MS)).await;
    session.close().await.unwrap();
    let fault = report.result.unwrap_err();
    assert_eq!(fault.details["network"], "not_opened", "{fault:?}");
    assert_eq!(fault.position.map(|place| (place.line, place.column)), Some((1, 7)), "{fault:?}");
    check("ftp://example.com/", "only http: and https: addresses can be fetched, not ftp:").await;
    check("file:///etc/passwd", "not file:").await;
    check("blob:https://example.com/1", "not blob:").await;
    check("data:text/plain", "the address has no data").await;
    check(&format!("http://me:secret@{}/", site.address), "a name and a password").await;
    check("no address", "URL").await;
    assert_eq!((site.visits(), other.visits()), (0, 0));
    // The same place written in another way is the same place.
    let said = rejected(&engine, site.options(), &format!("'http://2130706433:{port}/echo'")).await;
    assert_eq!(said, "in: 200");

    // Opened by name, closed by its address: a name that leads home gains nothing.
    let by_name = format!("'http://localhost:{port}/echo'");
    let said = rejected(&engine, opened(&["localhost"], &[]), &by_name).await;
    assert!(said.contains("private address"), "{said}");
    let said = rejected(&engine, opened(&["127.0.0.1"], &[]), &format!("'{}'", site.url("/echo"))).await;
    assert!(said.contains("private address"), "{said}");
    assert_eq!(site.visits(), 1);
    assert_eq!(rejected(&engine, opened(&["localhost"], &["127.0.0.1"]), &by_name).await, "in: 200");
    // Beside them a session without a policy is as closed as ever.
    let said = rejected(&engine, SessionOptions::one_shot(), &by_name).await;
    assert!(said.contains("no host is allowed"), "{said}");
}

/// Each hop is looked at like the first one.
#[tokio::test]
async fn redirects_are_looked_at_again() {
    let (engine, site, other) = (engine(), Site::open().await, Site::open().await);
    let hop = |status: &str, place: &str| site.url(&format!("/redirect?{status},{place}"));
    let secrets = "{ headers: { authorization: 'secret' } }";
    for closed in
        [other.url("/echo"), "http://169.254.169.254/".into(), format!("http://localhost:{}/", site.address.port())]
    {
        let said = rejected(&engine, site.options(), &format!("'{}', {secrets}", hop("302", &closed))).await;
        assert!(said.contains("is not on the list"), "{closed}: {said}");
    }
    assert_eq!(other.visits(), 0);
    // A name that is open, whose address is not.
    let both = opened(&[&site.address.to_string(), "localhost"], &[&site.address.to_string()]);
    let to_name = format!("http://localhost:{}/echo", other.address.port());
    let said = rejected(&engine, both, &format!("'{}'", hop("307", &to_name))).await;
    assert!(said.contains("private address"), "{said}");
    assert_eq!(other.visits(), 0);

    let said = rejected(&engine, site.options(), &format!("'{}'", hop("302", "file:///etc/passwd"))).await;
    assert!(said.contains("not file:"), "{said}");
    let said = rejected(&engine, site.options(), &format!("'{}', {{ redirect: 'error' }}", hop("302", "/echo"))).await;
    assert!(said.contains("forbids"), "{said}");
    let said = rejected(&engine, site.options(), &format!("'{}', {{ redirect: 'manual' }}", hop("302", "/echo"))).await;
    assert_eq!(said, "in: 302");
    // A circle ends after twenty hops.
    let before = site.visits();
    let said = rejected(&engine, site.options(), &format!("'{}'", site.url("/redirect?302,?302,"))).await;
    assert!(said.contains("more than 20 redirects"), "{said}");
    assert_eq!(site.visits() - before, 21);

    // One that may be followed: a POST becomes a GET, and what was meant for the first host stays there.
    let both = opened(&["127.0.0.1"], &["127.0.0.1"]);
    let code = format!(
        "const r = await fetch('{}', {{ method: 'POST', body: 'x', headers: {{ authorization: 'secret', 'x-own': '1' }} }});
         const said = await r.json();
         return [r.redirected, r.url, said.line, said.body, said.headers.authorization ?? null, said.headers['x-own']]",
        hop("303", &other.url("/echo"))
    );
    let expected = json!([true, other.url("/echo"), "GET /echo HTTP/1.1", "", null, "1"]);
    assert_eq!(value(&engine, both, &code).await, expected);
}

/// Servers that lie, flood or fall silent: an error for the code, and nothing worse.
#[tokio::test]
async fn bad_answers_are_errors() {
    let (engine, site) = (engine(), Site::open().await);
    for (path, word) in [
        ("/short", "was cut off"),
        ("/announced", "more than"),
        ("/endless", "more than 33554432 bytes"),
        ("/noise", "sent an invalid HTTP response"),
        ("/headers", "sent an invalid HTTP response"),
        ("/switch", ""),
    ] {
        let said = rejected(&engine, site.options(), &format!("'{}'", site.url(path))).await;
        assert!(said.starts_with("TypeError: fetch failed: ") && said.contains(word), "{path}: {said}");
    }
    // With little memory the limit is lower, and the session goes on.
    let limits = Limits { memory_bytes: 64 << 20, ..Limits::ONE_SHOT };
    let options = SessionOptions { limits, ..site.options() };
    let code = format!(
        "const said = await fetch('{}').catch((e) => e.message); return [said, (await (await fetch('{}')).text()).length]",
        site.url("/endless"),
        site.url("/bytes?7000000")
    );
    let seen = value(&engine, options, &code).await;
    assert_eq!(seen[1], 7_000_000);
    assert!(seen[0].as_str().unwrap().contains("more than 8388608 bytes"), "{seen}");
    // Nobody is there at all.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = rejected(&engine, opened(&["127.0.0.1"], &["127.0.0.1"]), &format!("'http://{free}/'")).await;
    assert!(said.contains("cannot be reached"), "{said}");
}

/// The run's deadline is the request's, and its end the connection's.
#[tokio::test]
async fn a_slow_answer_ends_with_the_run() {
    let (engine, site) = (engine(), Site::open().await);
    for path in ["/slow", "/silent"] {
        let mut session = engine.open(site.options()).await.unwrap();
        let report = session.run(&body(&format!("return await fetch('{}')", site.url(path)), 400)).await;
        assert_eq!((report.result.unwrap_err().kind, report.fate), (FaultKind::Timeout, SessionFate::Lost));
        assert_eq!(report.effects, Effects::Unknown);
        assert!(report.usage.wall_ms < 5_000.0, "{}", report.usage.wall_ms);
        site.left().await;
    }
    // A request that nobody awaits ends with its run, too, and the session stays.
    let mut session = engine.open(site.options()).await.unwrap();
    let code =
        format!("fetch('{}').catch(() => {{}}); await fetch('{}'); return 1", site.url("/slow"), site.url("/echo"));
    assert_eq!(session.run(&body(&code, PATIENCE_MS)).await.result.unwrap().value, 1);
    site.left().await;
    assert_eq!(session.run(&body("return 2", PATIENCE_MS)).await.result.unwrap().value, 2);
}

/// What is given up is given up at the host as well.
#[tokio::test]
async fn an_aborted_request_is_given_up() {
    let (engine, site) = (engine(), Site::open().await);
    let mut session = engine.open(site.options()).await.unwrap();
    let code = format!(
        "const c = new AbortController(); const asked = fetch('{0}', {{ signal: c.signal }}).catch((e) => e.name);
         await visited(); c.abort(); const name = await asked; await left();
         const late = await fetch('{0}', {{ signal: AbortSignal.timeout(300) }}).catch((e) => e.name); await left();
         const why = await fetch('{0}', {{ signal: AbortSignal.abort(new Error('mine')) }}).catch((e) => e.message);
         return [name, late, why]",
        site.url("/silent"),
    );
    let site = Arc::new(site);
    let (first, second) = (Arc::clone(&site), Arc::clone(&site));
    // Both hang, and fail by the deadline, if what they wait for does not happen.
    let tools = ToolSet::new(vec![
        ToolSpec::new("visited", move |_| {
            let site = Arc::clone(&first);
            async move { Ok(json!(site.visited().await)) }
        }),
        ToolSpec::new("left", move |_| {
            let site = Arc::clone(&second);
            async move { Ok(json!(site.left().await)) }
        }),
    ]);
    session.send_tools(tools.unwrap()).await.unwrap();
    let seen = session.run(&body(&code, PATIENCE_MS)).await.result.unwrap().value;
    assert_eq!(seen, json!(["AbortError", "TimeoutError", "mine"]));
    assert_eq!(site.visits(), 2);
}

#[tokio::test]
async fn many_requests_at_once_wait_for_their_turn() {
    let (engine, site) = (engine(), Site::open().await);
    let code = format!(
        "const all = await Promise.all(Array.from({{ length: 50 }}, async (_, i) => {{
            const r = await fetch('{}?' + i); return (await r.json()).line }}));
         return all.filter((line, i) => line === `GET /echo?${{i}} HTTP/1.1`).length",
        site.url("/echo")
    );
    assert_eq!(value(&engine, site.options(), &code).await, 50);
    assert_eq!(site.visits(), 50);
    assert!((1..=16).contains(&site.most_at_once()), "{}", site.most_at_once());
    // Together they may not hold more than the session itself: some fail, the host does not, the session goes on.
    let limits = Limits { memory_bytes: 32 << 20, ..Limits::ONE_SHOT };
    let options = SessionOptions { limits, ..site.options() };
    let code = format!(
        "const all = await Promise.allSettled(Array.from({{ length: 40 }}, () => fetch('{}').then((r) => r.status)));
         return [all.length, all.every((one) => one.status === 'fulfilled' ? one.value === 200 : one.reason instanceof TypeError)]",
        site.url("/bytes?1000000")
    );
    assert_eq!(value(&engine, options, &code).await, json!([40, true]));
}
