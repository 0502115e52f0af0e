//! The browser in a Pod of its own, beside Python in another, on one claim.

use cove_config::{ContainerConfig, ProfileConfig, ResourceConfig};

use super::ground::{Ground, named};
use super::small;
use crate::browser::command;
use crate::support::{harbour_with, until};

/// It is started by the first call that needs it, finds the programs of its own sandbox and nothing else, and its files are the
/// sandbox's. What it knew, it knows in its next Pod.
#[tokio::test]
async fn a_browser_in_a_pod_shows_its_own_sandbox() {
    let Some(ground) = Ground::pods() else { return };
    if named("COVE_TEST_GULL_IMAGE").is_none() {
        println!(
            "NOT TRIED with a browser in a Pod: COVE_TEST_GULL_IMAGE names no image; scripts/test-kubernetes makes one"
        );
        return;
    }
    let harbour = harbour_with(|config| {
        ground.configure(config);
        let ship = ContainerConfig { name: "ship".to_owned(), ..ContainerConfig::default() };
        let resources = ResourceConfig { cpus: 2.0, memory: "1g".parse().unwrap() };
        let gull =
            ContainerConfig { name: "gull".to_owned(), resources: Some(resources), ..ContainerConfig::default() };
        config.profiles = vec![ProfileConfig { containers: vec![ship, gull], ..small("p") }];
    })
    .await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let id = harbour.create_of("p").await.id;
    let browse = async |cmd: &str| bay.exec_browser(owner, &id, command(cmd)).await.unwrap();
    let serve = "cd w && nohup python3 -m http.server 3000 --bind 127.0.0.1 >/dev/null 2>&1 & true";
    harbour.out(&id, "mkdir w && echo '<title>Inside</title>' > w/index.html").await;
    harbour.out(&id, serve).await;
    until("it listens", || async { !bay.ports(owner, &id).await.unwrap().items.is_empty() }).await;
    assert_eq!(ground.of(&id).await.len(), 1, "the browser waits until somebody needs it");
    let opened = browse("open http://localhost:3000").await;
    assert!(opened.success, "{opened:?}");
    assert_eq!(browse("get title").await.output.trim(), "Inside");
    assert_eq!(ground.of(&id).await.len(), 2);
    for url in ["http://example.com", "http://10.0.0.1", "http://localhost.example:3000"] {
        assert!(!browse(&format!("open {url}")).await.success, "{url}");
    }
    browse("open http://localhost:3000").await;
    assert!(browse("cookies set flavour oat").await.success);
    assert!(browse("screenshot shot.png").await.success);
    assert_eq!(harbour.out(&id, "head -c 4 shot.png | tail -c 3").await, "PNG");
    bay.stop_sandbox(owner, &id).await.unwrap();
    assert_eq!(ground.of(&id).await, Vec::<String>::new());
    harbour.out(&id, serve).await;
    until("it listens", || async { !bay.ports(owner, &id).await.unwrap().items.is_empty() }).await;
    assert!(browse("open http://localhost:3000").await.success);
    let cookies = browse("cookies").await;
    assert!(cookies.output.contains("flavour=oat"), "it had time to keep its cookies: {cookies:?}");
    bay.delete_sandbox(owner, &id).await.unwrap();
    assert_eq!(ground.of(&id).await, Vec::<String>::new());
    harbour.close().await;
}
