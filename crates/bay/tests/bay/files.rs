//! Files in and out of a workspace, and the limit of a cargo.

use bytes::Bytes;
use cove_api::{CargoId, CargoQuery, CreateCargo, CreateSandbox, ErrorCode, SandboxId, WriteFile};
use cove_files::FileTool;
use futures_util::StreamExt;
use serde_json::json;

use crate::support::{Harbour, harbour, harbour_with, until};

fn stream(pieces: Vec<Vec<u8>>) -> cove_bay::ByteStream {
    Box::pin(futures_util::stream::iter(pieces.into_iter().map(|piece| Ok(Bytes::from(piece)))))
}

async fn read_all(download: cove_bay::Download) -> Vec<u8> {
    let pieces: Vec<_> = download.bytes.collect().await;
    pieces.into_iter().flat_map(|piece| piece.unwrap()).collect()
}

fn file(path: &str, content: &str) -> WriteFile {
    WriteFile { path: path.to_owned(), content: content.to_owned() }
}

#[tokio::test]
async fn files_come_and_go() {
    let harbour = harbour().await;
    let (bay, owner, id) = (&harbour.bay, &harbour.owner, harbour.create().await.id);
    bay.write_file(owner, &id, file("a/../b/c.txt", "häll\u{1F600}\n")).await.unwrap();
    bay.write_file(owner, &id, file(".hidden", "")).await.unwrap();
    assert_eq!(bay.read_file(owner, &id, "b/c.txt").await.unwrap().content, "häll\u{1F600}\n");
    assert_eq!(harbour.out(&id, "cat b/c.txt").await, "häll\u{1F600}");
    let listed = bay.list_directory(owner, &id, ".").await.unwrap().entries;
    let entry = |name: &str| listed.iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("{name}"));
    assert!(entry(".hidden").is_file && entry("b").is_dir && entry("b").size.is_none());
    let inner = bay.list_directory(owner, &id, "b").await.unwrap().entries;
    assert_eq!((inner[0].path.as_str(), inner[0].size), ("b/c.txt", Some(10)));
    assert!(inner[0].modified_at.is_some());

    // A large one, in uneven pieces, as bytes.
    let pieces: Vec<Vec<u8>> = (0..40_u32).map(|n| vec![n as u8; 70_001 + n as usize]).collect();
    let whole: Vec<u8> = pieces.concat();
    let up = bay.upload(owner, &id, "deep/er/big \"ü\".bin", stream(pieces)).await.unwrap();
    assert_eq!((up.size, up.path.as_str()), (whole.len() as u64, "deep/er/big \"ü\".bin"));
    let down = bay.download(owner, &id, "deep/er/big \"ü\".bin").await.unwrap();
    assert_eq!((down.size, down.name.as_str()), (Some(whole.len() as u64), "big \"ü\".bin"));
    assert!(read_all(down).await == whole);
    assert!(
        read_all({
            bay.upload(owner, &id, "empty", stream(Vec::new())).await.unwrap();
            bay.download(owner, &id, "empty").await.unwrap()
        })
        .await
        .is_empty()
    );

    bay.delete_file(owner, &id, "b").await.unwrap();
    let missing = [
        bay.read_file(owner, &id, "b/c.txt").await.err(),
        bay.delete_file(owner, &id, "b").await.err(),
        bay.download(owner, &id, "b/c.txt").await.err(),
        bay.list_directory(owner, &id, "nowhere").await.err(),
    ];
    for error in missing {
        assert_eq!(error.unwrap().code, ErrorCode::FileNotFound);
    }
    for (path, reason) in
        [("", "empty_path"), ("/etc/passwd", "absolute_path"), ("../x", "path_traversal"), ("a\0", "null_byte")]
    {
        let errors = [
            bay.read_file(owner, &id, path).await.err(),
            bay.write_file(owner, &id, file(path, "")).await.err(),
            bay.delete_file(owner, &id, path).await.err(),
            bay.list_directory(owner, &id, path).await.err(),
            bay.download(owner, &id, path).await.err(),
            bay.upload(owner, &id, path, stream(Vec::new())).await.err(),
        ];
        for error in errors {
            let error = error.unwrap();
            assert_eq!((error.code, &error.details["reason"]), (ErrorCode::InvalidPath, &reason.into()));
        }
    }
    // A link that leads out is the runtime's to refuse, in the same words.
    harbour.out(&id, "ln -s /etc out").await;
    let refused = bay.read_file(owner, &id, "out/passwd").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidPath);
    // A folder is no text.
    assert_eq!(bay.read_file(owner, &id, "deep").await.unwrap_err().code, ErrorCode::ValidationError);

    bay.file_tool(owner, &id, FileTool::from_name("write").unwrap(), json!({"path": "t.txt", "content": "one two\n"}))
        .await
        .unwrap();
    let edit = json!({"path": "t.txt", "oldText": "two", "newText": "three"});
    bay.file_tool(owner, &id, FileTool::from_name("edit").unwrap(), edit).await.unwrap();
    assert_eq!(harbour.out(&id, "cat t.txt").await, "one three");
    let missing = bay.file_tool(owner, &id, FileTool::from_name("read").unwrap(), json!({"path": "none"})).await;
    assert_eq!(missing.unwrap_err().details["code"], "file_not_found");
    harbour.close().await;
}

async fn with_cargo(harbour: &Harbour, size_limit_mb: u32) -> (SandboxId, CargoId) {
    let wish = CreateCargo { size_limit_mb: Some(size_limit_mb) };
    let cargo = harbour.bay.create_cargo(&harbour.owner, wish, None).await.unwrap();
    assert_eq!((cargo.size_limit_mb, cargo.backend.as_str(), cargo.managed), (size_limit_mb, "local+watch", false));
    let wish = CreateSandbox { cargo_id: Some(cargo.id.to_string()), ..CreateSandbox::default() };
    (harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap().id, cargo.id)
}

#[tokio::test]
async fn a_cargo_holds_what_it_may_and_no_more() {
    let harbour = harbour_with(|config| config.limits.max_upload_mb = 3).await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let (id, cargo) = with_cargo(&harbour, 4).await;
    let mebibyte = || vec![7_u8; 1 << 20];
    // One file too large for the interface, then too many bytes for the cargo.
    let large = bay.upload(owner, &id, "large", stream(vec![mebibyte(), mebibyte(), mebibyte(), mebibyte()])).await;
    assert_eq!(large.unwrap_err().code, ErrorCode::ValidationError);
    bay.upload(owner, &id, "one", stream(vec![mebibyte(), mebibyte()])).await.unwrap();
    let full = bay.upload(owner, &id, "two", stream(vec![mebibyte(), mebibyte()])).await.unwrap_err();
    assert_eq!((full.code, &full.details["limit_bytes"]), (ErrorCode::QuotaExceeded, &json!(4 << 20)));
    let names = harbour.out(&id, "ls -A").await;
    assert!(names.contains("one") && !names.contains("two") && !names.contains("large"), "{names}");
    let text = "x".repeat(3 << 20);
    assert_eq!(bay.write_file(owner, &id, file("t", &text)).await.unwrap_err().code, ErrorCode::QuotaExceeded);
    let tool = json!({"path": "t", "content": text});
    let tool = bay.file_tool(owner, &id, FileTool::from_name("write").unwrap(), tool).await;
    assert_eq!(tool.unwrap_err().code, ErrorCode::QuotaExceeded);
    // A program inside: one file is cut at the limit, many are stopped by the watchdog. It is stopped either way.
    let single = harbour.shell(&id, "head -c 6000000 /dev/zero > big").await.unwrap();
    assert!(!single.success, "{single:?}");
    let many = harbour.shell(&id, "for i in $(seq 4000); do head -c 100000 /dev/zero > f$i; sync f$i; done").await;
    let many = many.unwrap();
    assert!(!many.success && many.error.as_ref().is_some_and(|why| why.contains("disk limit")), "{many:?}");
    let size = harbour.out(&id, "rm -f big f*; du -sm . | cut -f1").await;
    assert!(size.parse::<u32>().unwrap() <= 4, "{size}");
    // What cannot be counted is no way around it, and can be removed.
    harbour.out(&id, "rm -f one; for i in $(seq 300); do mkdir d; cd d; done").await;
    until("it is weighed anew", || async {
        let deep = bay.upload(owner, &id, "three", stream(vec![mebibyte()])).await;
        deep.is_err_and(|error| error.code == ErrorCode::QuotaExceeded && error.message.contains("nested too deep"))
    })
    .await;
    harbour.out(&id, "rm -rf d").await;
    until("there is room", || async { bay.upload(owner, &id, "three", stream(vec![mebibyte()])).await.is_ok() }).await;

    // Two sandboxes on one cargo see one another's files; the cargo stays while one is there.
    let wish = CreateSandbox { cargo_id: Some(cargo.to_string()), ..CreateSandbox::default() };
    let other = bay.create_sandbox(owner, wish, None).await.unwrap().id;
    harbour.out(&id, "echo shared > s.txt").await;
    assert_eq!(harbour.out(&other, "cat s.txt").await, "shared");
    let used = bay.delete_cargo(owner, &cargo).await.unwrap_err();
    assert_eq!((used.code, used.details["active_sandbox_ids"].as_array().unwrap().len()), (ErrorCode::Conflict, 2));
    for sandbox in [&id, &other] {
        bay.delete_sandbox(owner, sandbox).await.unwrap();
    }
    let plain = harbour.create().await.cargo_id;
    let listed = async |managed| {
        let query = CargoQuery { managed, ..CargoQuery::default() };
        let items = bay.list_cargos(owner, query).await.unwrap().items;
        items.into_iter().map(|info| (info.id.to_string(), info.managed)).collect::<Vec<_>>()
    };
    for managed in [None, Some(false)] {
        assert_eq!(listed(managed).await, [(cargo.to_string(), false)], "{managed:?}");
    }
    assert_eq!(listed(Some(true)).await, [(plain.to_string(), true)]);
    assert!(bay.cargo(owner, &cargo).await.is_ok());
    bay.delete_cargo(owner, &cargo).await.unwrap();
    assert_eq!(bay.delete_cargo(owner, &cargo).await.unwrap_err().code, ErrorCode::NotFound);
    until("its folder is gone", || async { !harbour.dir.path().join("data/cargos").join(&cargo).exists() }).await;
    harbour.close().await;
}
