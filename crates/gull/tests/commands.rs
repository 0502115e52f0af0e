//! Every group of commands, once, through `/exec`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use serde_json::json;
use site::{Place, png_size, reference};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_group_of_commands_works() {
    let place = Place::new().await;
    std::fs::write(place.file("up.txt"), "from the workspace").unwrap();
    std::fs::write(place.file("agent-browser.json"), r#"{"proxy":"http://127.0.0.1:1"}"#).unwrap();
    let bay = place.serve("sandbox-commands").await;
    let play = place.url("/play");
    // What each command's output must hold; `⇒` a file that must be there afterwards.
    for (cmd, expected) in [
        // navigation
        (format!("open {play}"), "Play"),
        (format!("goto {}", place.url("/second")), "Second"),
        ("back".to_owned(), "/play"),
        ("forward".to_owned(), "/second"),
        ("agent-browser reload".to_owned(), "/second"),
        (format!("navigate {play}"), "Play"),
        // interaction
        ("click #greet".to_owned(), "Done"),
        ("get text #out".to_owned(), "hello old"),
        ("fill #name 'a \"b\" $(id); `c`'".to_owned(), "Done"),
        ("get value #name".to_owned(), "a \"b\" $(id); `c`"),
        ("fill #name --dashed text".to_owned(), "Done"),
        ("get value #name".to_owned(), "--dashed text"),
        ("type #name ü日本".to_owned(), "Done"),
        ("press Tab".to_owned(), "Done"),
        ("check #box".to_owned(), "Done"),
        ("is checked #box".to_owned(), "true"),
        ("uncheck #box".to_owned(), "Done"),
        ("select #pick b".to_owned(), "Done"),
        ("get value #pick".to_owned(), "b"),
        ("hover #greet".to_owned(), "Done"),
        ("scroll down 200".to_owned(), "Done"),
        ("mouse wheel -100".to_owned(), "Done"),
        ("find role button click --name Greet".to_owned(), "Done"),
        ("dblclick h1".to_owned(), "Done"),
        ("keyboard type x".to_owned(), "Done"),
        // query
        ("get title".to_owned(), "Play"),
        ("get url".to_owned(), "/play"),
        ("get attr #api href".to_owned(), "/data.json"),
        ("get count button".to_owned(), "5"),
        ("is visible #greet".to_owned(), "true"),
        ("is enabled #dis".to_owned(), "false"),
        ("read".to_owned(), "Play"),
        // wait
        ("wait #out".to_owned(), "Done"),
        ("wait --text hello".to_owned(), "hello"),
        ("wait --load load".to_owned(), "Done"),
        ("wait --fn 'document.readyState === \"complete\"'".to_owned(), ""),
        ("wait 20".to_owned(), "Done"),
        // pictures and paper
        ("screenshot".to_owned(), "/workspace/screenshot-"),
        ("screenshot #greet shots/button.png".to_owned(), "⇒shots/button.png"),
        ("screenshot --full /workspace/full.png".to_owned(), "⇒full.png"),
        ("pdf page.pdf".to_owned(), "⇒page.pdf"),
        // tabs, frames, dialogs
        (format!("tab new {} --label two", place.url("/second")), "/second"),
        ("tab".to_owned(), "two"),
        ("tab close two".to_owned(), "closed"),
        ("frame #inner".to_owned(), "Done"),
        ("snapshot -i".to_owned(), "Inside"),
        ("frame main".to_owned(), "Done"),
        ("click #ask".to_owned(), "Done"),
        ("dialog accept".to_owned(), "Done"),
        ("get text #out".to_owned(), "true"),
        // cookies, storage, state
        ("cookies set flavour oat".to_owned(), "Done"),
        ("cookies".to_owned(), "flavour=oat"),
        ("storage local set k v".to_owned(), "Done"),
        ("storage local k".to_owned(), "v"),
        ("storage local".to_owned(), "seen"),
        ("state save state.json".to_owned(), "⇒state.json"),
        ("state load /workspace/state.json".to_owned(), "/workspace/state.json"),
        (format!("open {play}"), "Play"),
        // network
        ("network route **/data.json --body '{\"mock\":true}'".to_owned(), "Done"),
        ("eval 'fetch(\"/data.json\").then(r => r.text())'".to_owned(), "mock"),
        ("network unroute".to_owned(), "Done"),
        ("network har start".to_owned(), "started"),
        ("eval 'fetch(\"/data.json\").then(r => r.text())'".to_owned(), "real"),
        ("network har stop net/all.har".to_owned(), "⇒net/all.har"),
        ("network requests".to_owned(), ""),
        // eval, console
        ("eval 1+1".to_owned(), "2"),
        ("eval -1".to_owned(), "-1"),
        ("eval 'console.log(\"seen \" + 42)'".to_owned(), ""),
        ("console".to_owned(), "seen 42"),
        ("errors".to_owned(), ""),
        // diff
        ("snapshot".to_owned(), "Play"),
        ("eval 'document.querySelector(\"h1\").textContent = \"Changed\"'".to_owned(), "Changed"),
        ("diff snapshot".to_owned(), "Changed"),
        ("screenshot base.png".to_owned(), "⇒base.png"),
        ("eval 'document.body.style.background = \"red\"'".to_owned(), "red"),
        ("diff screenshot --baseline base.png --output delta.png".to_owned(), "⇒delta.png"),
        // files
        ("upload #file up.txt".to_owned(), "Done"),
        ("click #send".to_owned(), "Done"),
        ("wait #got".to_owned(), "Done"),
        ("get text #got".to_owned(), "up.txt: from the workspace"),
        (format!("open {play}"), "Play"),
        ("download #api got/data.json".to_owned(), "⇒got/data.json"),
        // settings, traces, help
        ("set viewport 800 600".to_owned(), "Done"),
        ("screenshot small.png".to_owned(), "⇒small.png"),
        ("clipboard write hello".to_owned(), ""),
        ("trace start".to_owned(), ""),
        ("trace stop trace.json".to_owned(), "⇒trace.json"),
        ("get title --json".to_owned(), "\"success\":true"),
        ("snapshot --help".to_owned(), "Usage"),
        ("session".to_owned(), "sandbox-commands"),
        // batch
        (format!("batch --bail 'open {play}' 'get title' 'screenshot many.png'"), "⇒many.png"),
        ("batch --json 'get url' 'get title'".to_owned(), "\"success\":true"),
    ] {
        let said = bay.ok(&cmd).await;
        match expected.strip_prefix('⇒') {
            Some(file) => {
                let meta = std::fs::metadata(place.file(file)).unwrap_or_else(|error| panic!("{cmd}: {file}: {error}"));
                assert!(meta.len() > 0 && said.contains(&format!("/workspace/{file}")), "{cmd}: {said}");
            }
            None => assert!(said.contains(expected), "{cmd}: {said}"),
        }
        assert!(!said.contains("cove-gull-"), "{cmd} tells of a private folder: {said}");
    }
    assert_eq!(png_size(&place.file("small.png")), (800, 600));
    assert_eq!(std::fs::read_to_string(place.file("got/data.json")).unwrap(), "{\"real\":true}");
    assert!(std::fs::read(place.file("page.pdf")).unwrap().starts_with(b"%PDF"));

    // What fails says what to do.
    let snapshot = bay.ok("snapshot -i").await;
    let gone = reference(&snapshot, "Gone");
    bay.ok(&format!("click {gone}")).await;
    for (cmd, hint) in [
        (format!("click {gone}"), "take a new snapshot"),
        ("click @e999".to_owned(), "take a new snapshot"),
        ("click #nowhere".to_owned(), "take a new snapshot"),
        ("click #dis".to_owned(), "disabled"),
        ("snapshto".to_owned(), "did you mean `snapshot`"),
        ("tab 2".to_owned(), "t1, t2"),
        ("eval 'throw new Error(\"boom\")'".to_owned(), "boom"),
        ("upload #file nothing.txt".to_owned(), "no such file"),
        ("pdf skills".to_owned(), "could not be written"),
        ("wait #never --timeout 300".to_owned(), "timed out"),
    ] {
        let said = bay.fails(&cmd).await;
        assert!(said.contains(hint), "{cmd}: {said}");
    }

    // The two other doors: a batch of calls, and what the runtime says of itself.
    let commands = json!({ "commands": ["get title", "click @e999", "get url"], "stop_on_error": true });
    let (status, batch) = bay.post("/exec_batch", &commands).await;
    assert_eq!(status, 200);
    assert_eq!((batch["total_steps"].as_u64(), batch["completed_steps"].as_u64()), (Some(3), Some(2)), "{batch}");
    assert_eq!(
        (batch["success"].as_bool(), batch["results"][1]["exit_code"].as_i64()),
        (Some(false), Some(1)),
        "{batch}"
    );
    assert_eq!(batch["results"][1]["step_index"], 1);
    let (step, done) = (&batch["results"][1], &batch["results"][0]);
    assert_eq!(step["cause"], "not_on_page", "{batch}");
    assert!(step["stderr"].as_str().unwrap().contains(&format!("hint: {}", step["hint"].as_str().unwrap())), "{batch}");
    assert!(["cause", "reason", "hint", "notes"].iter().all(|field| done.get(field).is_none()), "{batch}");
    let go_on = json!({ "commands": ["get title", "click @e999", "get url"], "stop_on_error": false, "timeout": 30 });
    assert_eq!(bay.post("/exec_batch", &go_on).await.1["results"].as_array().unwrap().len(), 3);
    // With a trace, the same answer and what happened.
    let traced = json!({ "cmd": format!("open {}", place.url("/second")), "include_trace": true });
    let (_, answer) = bay.post("/exec", &traced).await;
    let step = &answer["trace"][0];
    assert_eq!((&answer["exit_code"], &step["exit_code"], &step["step_index"]), (&json!(0), &json!(0), &json!(0)));
    assert!(step["url_before"].as_str().unwrap().ends_with("/play"), "{answer}");
    assert!(step["url_after"].as_str().unwrap().ends_with("/second"), "{answer}");
    assert!(step["started_at_ms"].as_u64().unwrap() > 1_700_000_000_000 && step["duration_ms"].is_u64());
    let traced = json!({ "commands": ["get title", "click @e999", "get url"], "include_trace": true });
    let (_, batch) = bay.post("/exec_batch", &traced).await;
    assert_eq!(
        (batch["results"].as_array().unwrap().len(), batch["trace"].as_array().unwrap().len()),
        (2, 2),
        "{batch}"
    );
    assert_eq!(batch["trace"][1]["cmd"], "click @e999");
    assert!(batch["trace"][1]["stderr"].as_str().unwrap().contains("take a new snapshot"), "{batch}");
    let (_, meta) = bay.get("/meta").await;
    assert_eq!((meta["runtime"].as_str(), meta["agent_browser"].as_str()), (Some("gull"), Some("0.41.0")), "{meta}");
    assert!(meta["capabilities"]["browser"].is_object() && meta["capabilities"]["screenshot"].is_object());
    for body in
        [json!({}), json!({ "cmd": 1 }), json!({ "cmd": "x", "timeout": 0 }), json!({ "cmd": "x", "timeout": 301 })]
    {
        assert_eq!(bay.post("/exec", &body).await.0, 422, "{body}");
    }
    assert_eq!(bay.request("POST", "/exec", "not json").await.0, 422);
    bay.server.close().await;
}
