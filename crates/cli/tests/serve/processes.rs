//! Processes that run on by themselves, and folders that are watched: by a client, by the command line, through another Bay.

use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_api::{
    CreateProcess, ErrorCode, FolderChange, ProcessFrame, ProcessInput, ProcessStatus, ProcessStream, TerminalSize,
    WatchFrame, WatchQuery,
};
use cove_client::{Client, Follow};
use cove_testkit::until;

use crate::several::two_bays;
use crate::{Ground, KEY, Served};

fn client(served: &Served) -> Client {
    Client::new(&served.url, Some(KEY)).unwrap()
}

fn bash(command: &str) -> CreateProcess {
    CreateProcess { argv: ["bash", "-c", command].map(str::to_owned).to_vec(), ..CreateProcess::default() }
}

/// Everything until the process's end: its standard output, its error output, its exit code.
async fn ended(mut frames: Follow<ProcessFrame>) -> (String, String, Option<i32>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    loop {
        match frames.next().await.unwrap().expect("it ends with its last frame") {
            ProcessFrame::Output(chunk) => {
                let into = if chunk.stream == ProcessStream::Stderr { &mut err } else { &mut out };
                into.extend(STANDARD.decode(&chunk.data).unwrap());
            }
            ProcessFrame::Ended(info) => {
                assert!(frames.next().await.unwrap().is_none());
                let text = |bytes| String::from_utf8(bytes).unwrap();
                return (text(out), text(err), info.return_code);
            }
            ProcessFrame::Process(_) | ProcessFrame::Alive => {}
        }
    }
}

#[tokio::test]
async fn a_process_is_started_followed_fed_and_ended() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let bay = client(&served);
    let id = served.create("python-default").await;
    let id = id.as_str();
    assert!(bay.processes(id).await.unwrap().processes.is_empty());
    assert_eq!(bay.sandbox(id).await.unwrap().status.as_str(), "idle", "a list starts nothing");

    // All of it, from its first byte, though it is followed late; and from a place on.
    let started = bay.start_process(id, &bash("echo one; echo two >&2; read x; echo got $x; exit 3")).await.unwrap();
    assert!(started.running && started.return_code.is_none(), "{started:?}");
    let name = started.process_id.as_str();
    // Without `input` there is nothing to read.
    assert_eq!(
        ended(bay.follow_process(id, name, Some(0)).await.unwrap()).await,
        ("one\ngot\n".to_owned(), "two\n".to_owned(), Some(3))
    );
    let info = bay.process(id, name).await.unwrap();
    let output = info.output.as_ref().unwrap();
    assert_eq!((info.status, output.stdout.as_str()), (ProcessStatus::Failed, "one\ngot\n"), "{info:?}");

    // Fed, by a name of its own, in a folder, with a variable.
    let wish = CreateProcess {
        name: Some("feeder".to_owned()),
        cwd: Some("/tmp".to_owned()),
        env: [("WORD".to_owned(), "said".to_owned())].into(),
        input: true,
        ..bash("pwd; while read x; do echo $WORD $x; done")
    };
    bay.start_process(id, &wish).await.unwrap();
    let twice = bay.start_process(id, &wish).await.unwrap_err();
    assert_eq!(twice.code(), Some(ErrorCode::Conflict), "{twice}");
    let follower = tokio::spawn(ended(bay.follow_process(id, "feeder", Some(0)).await.unwrap()));
    let text = ProcessInput { text: Some("a\n".to_owned()), data: Some(STANDARD.encode("b\n")), end: false };
    bay.write_process(id, "feeder", &text).await.unwrap();
    bay.write_process(id, "feeder", &ProcessInput { end: true, ..ProcessInput::default() }).await.unwrap();
    assert_eq!(follower.await.unwrap(), ("/tmp\nsaid a\nsaid b\n".to_owned(), String::new(), Some(0)));

    // A terminal with a size; a signal; the end of a whole tree.
    let size = TerminalSize { cols: 100, rows: 40 };
    let wish = CreateProcess { terminal: Some(TerminalSize::default()), ..bash("read x; stty size") };
    let terminal = bay.start_process(id, &wish).await.unwrap().process_id;
    bay.resize_process(id, &terminal, size).await.unwrap();
    let typed = ProcessInput { text: Some("\n".to_owned()), ..ProcessInput::default() };
    bay.write_process(id, &terminal, &typed).await.unwrap();
    let (said, ..) = ended(bay.follow_process(id, &terminal, Some(0)).await.unwrap()).await;
    assert!(said.contains("40 100"), "{said}");
    let asleep = bay.start_process(id, &bash("sleep 600 & sleep 600")).await.unwrap().process_id;
    let killed = bay.signal_process(id, &asleep, 9).await.unwrap();
    assert_eq!((killed.status, killed.running), (ProcessStatus::Killed, false));
    let polite = bay.start_process(id, &bash("trap 'exit 7' TERM; echo ready; while true; do sleep 0.02; done")).await;
    let polite = polite.unwrap().process_id;
    until("it has set its trap", || async {
        bay.process(id, &polite).await.unwrap().output.unwrap().stdout == "ready\n"
    })
    .await;
    bay.signal_process(id, &polite, 15).await.unwrap();
    assert_eq!(ended(bay.follow_process(id, &polite, Some(0)).await.unwrap()).await.2, Some(7));
    bay.signal_process(id, &polite, 15).await.unwrap();

    let late = bay.start_process(id, &CreateProcess { timeout: Some(1), ..bash("sleep 600") }).await.unwrap();
    ended(bay.follow_process(id, &late.process_id, None).await.unwrap()).await;
    assert_eq!(bay.process(id, &late.process_id).await.unwrap().status, ProcessStatus::TimedOut);
    let none = bay.process(id, "nobody").await.unwrap_err();
    assert_eq!(none.code(), Some(ErrorCode::NotFound), "{none}");
    let missing = CreateProcess { argv: vec!["no-such-program".to_owned()], ..CreateProcess::default() };
    let missing = bay.start_process(id, &missing).await;
    // A sandbox that stops ends whoever follows.
    let endless = bay.start_process(id, &bash("sleep 600")).await.unwrap().process_id;
    let mut frames = bay.follow_process(id, &endless, None).await.unwrap();
    assert!(matches!(frames.next().await.unwrap(), Some(ProcessFrame::Process(_))));
    bay.stop_sandbox(id).await.unwrap();
    loop {
        match frames.next().await {
            Ok(Some(ProcessFrame::Ended(info))) => break assert_eq!(info.status, ProcessStatus::Killed),
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end was not told"),
            Err(error) => break assert_eq!(error.code(), Some(ErrorCode::Conflict), "{error}"),
        }
    }
    assert!(bay.processes(id).await.unwrap().processes.is_empty());
    assert!(missing.is_err_and(|error| error.code() == Some(ErrorCode::FileNotFound)), "a program that is not there");
    served.close();
}

#[tokio::test]
async fn a_watched_folder_tells_what_happens_in_it() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let bay = client(&served);
    let id = served.create("python-default").await;
    served.shell(&id, "mkdir -p watched/deep").await;
    let query = WatchQuery { path: "watched".to_owned(), recursive: true };
    let mut watch = bay.watch_folder(&id, &query).await.unwrap();
    assert_eq!(watch.next().await.unwrap(), Some(WatchFrame::Watching {}));
    served.shell(&id, "cd watched && echo x > deep/new && rm deep/new && cd .. && rm -r watched").await;
    let mut seen = Vec::new();
    loop {
        match watch.next().await.unwrap().expect("its end is told") {
            WatchFrame::Event(event) => seen.push((event.path, event.change)),
            WatchFrame::Gone {} => break,
            other => panic!("{other:?}"),
        }
    }
    for change in [FolderChange::Created, FolderChange::Written, FolderChange::Removed] {
        assert!(seen.contains(&("deep/new".to_owned(), change)), "{change:?}: {seen:?}");
    }
    assert!(watch.next().await.unwrap().is_none());
    served.close();
}

/// Where several Bays share the records, each of them leads to a process and to a folder.
#[tokio::test]
async fn through_another_bay_it_is_the_same() {
    let (_postgres, _ground, a, b) = two_bays("");
    let (here, there) = (client(&a), client(&b));
    let id = a.create("python-default").await;
    let started = here.start_process(&id, &CreateProcess { input: true, ..bash("read x; echo got $x") }).await.unwrap();
    let name = started.process_id.as_str();
    assert_eq!(there.processes(&id).await.unwrap().processes.len(), 1);
    let follower = tokio::spawn(ended(there.follow_process(&id, name, Some(0)).await.unwrap()));
    let mut watch = there.watch_folder(&id, &WatchQuery::default()).await.unwrap();
    assert_eq!(watch.next().await.unwrap(), Some(WatchFrame::Watching {}));
    a.shell(&id, "echo > new").await;
    assert!(matches!(watch.next().await.unwrap(), Some(WatchFrame::Event(event)) if event.path == "new"));
    let text = ProcessInput { text: Some("it\n".to_owned()), ..ProcessInput::default() };
    there.write_process(&id, name, &text).await.unwrap();
    assert_eq!(follower.await.unwrap(), ("got it\n".to_owned(), String::new(), Some(0)));
    drop(watch);
    a.close();
    b.close();
}

/// What a person types.
#[tokio::test]
async fn the_command_line_leaves_a_command_running() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    let run = |args: &[&str]| {
        let mut command = ground.command("data");
        command.arg("sandbox").args(args).args(["--url", &served.url]).env("COVE_KEY", KEY).stdin(Stdio::null());
        let done = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
    };
    let (code, name, err) =
        run(&["exec", "--detach", "--name", "server", &id, "--", "bash", "-c", "echo begun; echo bad >&2; sleep 600"]);
    assert_eq!((code, name.as_str()), (0, "server\n"), "{err}");
    let (_, listed, _) = run(&["ps", &id]);
    assert!(listed.contains("server") && listed.contains("running"), "{listed}");
    let bay = client(&served);
    until("it has said something", || async {
        bay.process(&id, "server").await.unwrap().output.unwrap().stderr == "bad\n"
    })
    .await;
    let (code, out, err) = run(&["logs", &id, "server"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "begun\n", "bad\n"));
    let (code, _, err) = run(&["kill", &id, "server"]);
    assert_eq!(code, 0, "{err}");
    // Its end is told at once to who comes later.
    let (code, out, err) = run(&["logs", &id, "server", "--follow"]);
    assert_eq!((code, out.as_str()), (1, "begun\n"), "{err}");
    let (_, listed, _) = run(&["ps", &id]);
    assert!(listed.contains("killed"), "{listed}");
    let (code, _, err) = run(&["logs", &id, "nobody"]);
    assert!(code != 0 && err.contains("nobody"), "{code} {err}");
    let (code, _, err) = run(&["exec", "--detach", "--python", &id, "-c", "1"]);
    assert_eq!(code, 2, "{err}");
    served.close();
}

/// After a stop, and in a server that was started anew, the next call finds it running; until it is killed.
#[tokio::test]
async fn a_process_is_started_again_where_that_was_asked_for() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let bay = client(&served);
    let id = served.create("python-default").await;
    let wish = CreateProcess { name: Some("kept".to_owned()), restart: true, ..bash("echo $$ >> starts; sleep 600") };
    let nameless = CreateProcess { name: None, ..wish.clone() };
    assert_eq!(bay.start_process(&id, &nameless).await.unwrap_err().code(), Some(ErrorCode::ValidationError));
    bay.start_process(&id, &wish).await.unwrap();
    let other = CreateProcess { name: Some("other".to_owned()), ..bash("sleep 600") };
    bay.start_process(&id, &other).await.unwrap();
    let running = async |bay: &Client| {
        let list = bay.processes(&id).await.unwrap().processes;
        list.into_iter().filter(|one| one.running).map(|one| one.process_id).collect::<Vec<_>>()
    };
    assert_eq!(running(&bay).await, ["kept", "other"]);
    bay.stop_sandbox(&id).await.unwrap();
    served.shell(&id, "true").await;
    assert_eq!(running(&bay).await, ["kept"]);
    served.close();

    let served = ground.serve("data", &[]);
    let bay = client(&served);
    until("it was started three times", || async { served.shell(&id, "wc -l < starts").await.trim() == "3" }).await;
    assert_eq!(running(&bay).await, ["kept"]);
    bay.signal_process(&id, "kept", 9).await.unwrap();
    bay.stop_sandbox(&id).await.unwrap();
    served.shell(&id, "true").await;
    assert_eq!(running(&bay).await, [""; 0]);
    served.close();
}

/// A process that was left running keeps its session where the profile says so, and nowhere else.
#[tokio::test]
async fn a_process_counts_as_use_where_that_is_said() {
    let profile = |id: &str, awake: bool| {
        format!(
            "  - {{ id: {id}, runtime_type: ship, capabilities: [shell, filesystem], idle_timeout: 1, \
             processes_keep_awake: {awake} }}\n"
        )
    };
    let profiles = format!("{}{}", profile("awake", true), profile("asleep", false));
    let ground = Ground::new(&format!("gc: {{interval_seconds: 1}}\nprofiles:\n{profiles}"));
    let served = ground.serve("data", &[]);
    let bay = client(&served);
    let started = async |profile: &str| {
        let id = served.create(profile).await;
        // As long as it runs, and then it is idle like any other.
        let wish = CreateProcess { name: Some("one".to_owned()), ..bash("until [ -e enough ]; do sleep 0.05; done") };
        bay.start_process(&id, &wish).await.unwrap();
        id
    };
    let (awake, asleep) = (started("awake").await, started("asleep").await);
    let idle = async |id: &str| bay.sandbox(id).await.unwrap().status.as_str() == "idle";
    until("the one without the word is idle", || idle(&asleep)).await;
    // The collector has come by for both; give it another round.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(!idle(&awake).await, "the process runs");
    assert!(bay.processes(&awake).await.unwrap().processes[0].running);
    let enough = cove_api::WriteFile { path: "enough".to_owned(), content: String::new() };
    bay.write_file(&awake, &enough).await.unwrap();
    until("it is idle when its process has ended", || idle(&awake)).await;
    served.close();
}
