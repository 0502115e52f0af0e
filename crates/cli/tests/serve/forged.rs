//! What only Bays may say to one another, said by somebody else; and one sandbox by all the ways to write its name.

use cove_testkit::processes::{below, command_line};
use cove_testkit::until;
use serde_json::{Value, json};

use crate::several::two_bays;
use crate::{KEY, Served};

/// How many programs of this name run below a server.
fn programs(served: &Served, words: &str) -> usize {
    below(served.child.id()).iter().filter(|pid| command_line(**pid) == words).count()
}

/// Seals that nobody but a Bay can make, and this is what others make of them.
const FORGED: [&str; 6] = ["1", "", "true", "1 6261792d61 0 00", "1  ", "2 00 99999999999999 ffff"];

async fn forged(served: &Served, seal: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
    let request = served.request(KEY, method, path).header("x-cove-forwarded", seal);
    let request = if body.is_null() { request } else { request.json(&body) };
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

// Several threads: a command runs while the test looks on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_but_a_bay_hands_on() {
    let (_postgres, _ground, a, b) = two_bays("limits: {max_sandboxes: 3}\nwarm_pool: {enabled: false}");
    let id = a.create("python-default").await;
    a.shell(&id, "echo mark > mark").await;

    // Work lands where the session is, whatever the header says.
    for seal in FORGED {
        let body = json!({ "command": "cat mark; echo x >> seen" });
        let (status, said) = forged(&b, seal, "POST", &format!("/v1/sandboxes/{id}/shell/exec"), body).await;
        assert_eq!((status, &said["output"]), (200, &json!("mark\n")), "{seal:?}: {said}");
    }
    assert_eq!(a.shell(&id, "wc -l < seen").await, FORGED.len().to_string());

    // A sandbox's name in other letters is the same sandbox: what is stopped is stopped.
    let odd: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let names = [id.replace('-', "%2D"), id.replace('-', "%2d"), odd];
    for name in &names {
        let run = a.request(KEY, "POST", &format!("/v1/sandboxes/{id}/shell/exec"));
        let run = tokio::spawn(run.json(&json!({ "command": "exec sleep 4243", "timeout": 300 })).send());
        until("it runs", async || programs(&a, "sleep 4243") == 1).await;
        let (status, said) = b.ask("GET", &format!("/v1/sandboxes/{name}"), Value::Null).await;
        assert_eq!((status, &said["containers"][0]["healthy"]), (200, &json!(true)), "asked where it lives: {said}");
        for seal in ["", "1"] {
            let path = format!("/v1/sandboxes/{name}/stop");
            let (status, said) = forged(&b, seal, "POST", &path, Value::Null).await;
            assert_eq!(status, 200, "{said}");
        }
        until("it is stopped", async || programs(&a, "sleep 4243") == 0).await;
        assert_ne!(run.await.unwrap().unwrap().status(), 200);
    }
    // Encoded twice it is another name, and nobody's.
    let twice = id.replace('-', "%252D");
    for method in ["GET", "DELETE"] {
        assert_eq!(b.ask(method, &format!("/v1/sandboxes/{twice}"), Value::Null).await.0, 404);
    }
    // What a client of HTTP would resolve on its way is not passed on as something else.
    let request = format!(
        "GET /v1/sandboxes/{id}/artifacts/%2e%2e HTTP/1.1\r\nhost: b\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n\r\n"
    );
    a.shell(&id, "true").await;
    let mut raw = std::net::TcpStream::connect(b.url.trim_start_matches("http://")).unwrap();
    std::io::Write::write_all(&mut raw, request.as_bytes()).unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut raw, &mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 404"), "{said}");
    assert_eq!(a.ask("DELETE", &format!("/v1/sandboxes/{id}"), Value::Null).await.0, 204);

    // The quota holds for what lives, not only for what is on record.
    let command = json!({ "command": "nohup sleep 4244 >/dev/null 2>&1 &" });
    for round in 0..4 {
        for _ in 0..3 {
            let (status, made) = forged(&a, "1", "POST", "/v1/sandboxes", json!({})).await;
            assert_eq!(status, 201, "{round}: {made}");
            let id = made["id"].as_str().unwrap().to_owned();
            let path = format!("/v1/sandboxes/{id}/shell/exec");
            assert_eq!(forged(&a, "1", "POST", &path, command.clone()).await.0, 200);
        }
        assert_eq!(forged(&a, "1", "POST", "/v1/sandboxes", json!({})).await.0, 429, "the fourth at once");
        assert!(programs(&a, "sleep 4244") + programs(&b, "sleep 4244") <= 3);
        let (_, listed) = b.ask("GET", "/v1/sandboxes", Value::Null).await;
        for sandbox in listed["items"].as_array().unwrap() {
            let name = sandbox["id"].as_str().unwrap().replace('-', "%2D");
            let (status, said) = forged(&b, "1", "DELETE", &format!("/v1/sandboxes/{name}"), Value::Null).await;
            assert_eq!(status, 204, "{said}");
        }
        assert_eq!(programs(&a, "sleep 4244") + programs(&b, "sleep 4244"), 0, "round {round}: they have ended");
    }
    a.close();
    b.close();
}

/// One address for two Bays, as a load balancer in front of both would be: refused, and not passed round and round.
#[tokio::test]
async fn a_request_that_comes_to_the_wrong_bay_goes_no_further() {
    let (_postgres, _ground, a, b) = crate::several::two_bays_that_say("", |_, first| first.map(str::to_owned));
    // `b` says that it is where `a` is.
    let id = b.create("python-default").await;
    b.shell(&id, "true").await;
    let began = std::time::Instant::now();
    let (status, said) = a.ask("GET", &format!("/v1/sandboxes/{id}"), Value::Null).await;
    assert_eq!((status, &said["error"]["code"]), (503, &json!("session_not_ready")), "{said}");
    assert!(said["error"]["message"].as_str().unwrap().contains("advertise_url"), "{said}");
    assert_eq!(said["error"]["details"]["may_have_begun"], false, "{said}");
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
    a.close();
    b.close();
}
