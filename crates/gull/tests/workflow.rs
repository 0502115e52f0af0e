//! The seed's workflow: open, look, fill, click, wait, take a picture; again after the browser was killed in between.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use site::{Bay, Place, png_size, processes_of, reference};

async fn log_in(bay: &Bay, place: &Place, picture: &str) {
    assert!(bay.ok(&format!("open {}", place.url("/login"))).await.contains("Login"));
    let snapshot = bay.ok("snapshot -i").await;
    bay.ok(&format!("fill {} 'user@example.com'", reference(&snapshot, "Email"))).await;
    bay.ok(&format!("fill {} 'password123'", reference(&snapshot, "Password"))).await;
    bay.ok(&format!("click {}", reference(&snapshot, "button"))).await;
    bay.ok("wait --load networkidle").await;
    assert!(bay.ok("get text h1").await.contains("Welcome user-at-example.com"));
    let said = bay.ok(&format!("screenshot /workspace/{picture}")).await;
    assert!(said.contains(&format!("/workspace/{picture}")) && !said.contains("cove-gull"), "{said}");
    assert_eq!(png_size(&place.file(picture)), (1280, 720));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_from_the_first_page_to_the_picture_and_again_after_a_kill() {
    let place = Place::new().await;
    let bay = place.serve("sandbox-0123456789ab").await;
    assert_eq!(bay.get("/health").await.1["browser_active"], false);
    log_in(&bay, &place, "result.png").await;

    let (_, health) = bay.get("/health").await;
    assert_eq!(
        (health["status"].as_str(), health["browser_ready"].as_bool()),
        (Some("healthy"), Some(true)),
        "{health}"
    );
    let pid = bay.gull().browser_pid().await.unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid.cast_signed()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let answer = bay.exec(&format!("open {}", place.url("/home"))).await;
    assert_eq!(answer.exit_code, 0, "{answer:?}");
    assert!(answer.stderr.contains("a new one was started"), "{answer:?}");
    // A login without a date has outlived the browser that was killed.
    assert!(bay.ok("get text h1").await.contains("Welcome user-at-example.com"));
    bay.ok("cookies clear").await;
    log_in(&bay, &place, "again/result.png").await;

    // The workspace has what it should, and its skill.
    let skill = std::fs::read_to_string(place.file("skills/browser-automation/SKILL.md")).unwrap();
    assert!(skill.starts_with("---\nname: browser-automation\ndescription: "));
    bay.server.close().await;
    assert_eq!(std::fs::read_dir(place.temp.path()).unwrap().count(), 0, "a folder was left");
    assert_eq!(processes_of(place.temp.path()), Vec::<String>::new());

    // Another Gull on the same cargo: still logged in.
    let bay = place.serve("sandbox-0123456789ab").await;
    bay.ok(&format!("open {}", place.url("/home"))).await;
    assert!(bay.ok("get text h1").await.contains("Welcome user-at-example.com"));
    bay.ok(&format!("open {}", place.url("/play"))).await;
    let second = cove_gull::Gull::start(place.options("other")).await;
    assert!(second.unwrap_err().to_string().contains("another browser uses this workspace"));
    bay.server.close().await;
}
