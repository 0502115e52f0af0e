//! The 33 cases of the file tools, as JavaScript and agents call them, on every driver: Bay sees no file of a sandbox, so each of
//! them goes through the runtime's protocol.

use bytes::Bytes;
use cove_files::FileTool;
use cove_files::testkit::{Expect, matrix};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::ground::Ground;
use super::small;
use crate::support::{Harbour, harbour_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_walls_have_the_file_tools() {
    keep_the_table(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_have_the_file_tools() {
    let Some(ground) = Ground::docker() else { return };
    keep_the_table(Some(&ground)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_have_the_file_tools() {
    let Some(ground) = Ground::pods() else { return };
    keep_the_table(Some(&ground)).await;
}

async fn keep_the_table(ground: Option<&Ground>) {
    let harbour = harbour_with(|config| {
        if let Some(ground) = ground {
            ground.configure(config);
        }
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    let cases = matrix();
    assert_eq!(cases.len(), 33);
    for case in cases {
        harbour.out(&id, "find /workspace -mindepth 1 -delete").await;
        for folder in &case.folders {
            harbour.out(&id, &format!("mkdir -p '{folder}'")).await;
        }
        for (path, content) in &case.files {
            let bytes = Bytes::from(content.clone());
            let stream = Box::pin(futures_util::stream::iter([Ok(bytes)]));
            harbour.bay.upload(&harbour.owner, &id, path, stream).await.unwrap();
        }
        // What is asked of files afterwards is asked of a folder here: they are fetched into it.
        let mirror = tempfile::tempdir().unwrap();
        let wanted = case.steps.iter().flat_map(|step| &step.expect).filter_map(|expect| match expect {
            Expect::File(path, _) => Some(*path),
            _ => None,
        });
        let wanted: Vec<&str> = wanted.collect();
        let told = case.run(mirror.path(), &mut |tool, args| {
            let tool = FileTool::from_name(tool).unwrap();
            block_in_place(|| {
                Handle::current().block_on(async {
                    let answer = harbour.bay.file_tool(&harbour.owner, &id, tool, args).await;
                    for path in &wanted {
                        fetch(&harbour, &id, path, mirror.path()).await;
                    }
                    answer.map_err(|error| error.message)
                })
            })
        });
        told.unwrap();
    }
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}

async fn fetch(harbour: &Harbour, id: &cove_api::SandboxId, path: &str, mirror: &std::path::Path) {
    use futures_util::StreamExt as _;
    let Ok(download) = harbour.bay.download(&harbour.owner, id, path).await else { return };
    let pieces: Vec<_> = download.bytes.collect().await;
    let bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.unwrap()).collect();
    std::fs::create_dir_all(mirror.join(path).parent().unwrap()).unwrap();
    std::fs::write(mirror.join(path), bytes).unwrap();
}
