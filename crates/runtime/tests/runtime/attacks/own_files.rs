//! Whatever a guest does to its own files, its next session starts, says what it could not do, and lists, reads, writes and
//! deletes them.

use serde_json::json;

use crate::hosts::on_every_host;
use crate::support::Sandbox;

/// What a guest leaves behind, and whether the next session has something to say about it.
const MESSES: &[(&str, &str, bool)] = &[
    ("a file in the place of the skills", "rm -r skills; echo x > skills", true),
    ("a pipe in the place of the skills", "rm -r skills; mkfifo skills", true),
    (
        "a socket in the place of the skills",
        "rm -r skills; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"skills\")'",
        true,
    ),
    ("a link to itself", "rm -r skills; ln -s skills skills", true),
    ("a circle of links", "rm -r skills; ln -s b a; ln -s a b; ln -s a/b skills", true),
    ("a link that leads out", "rm -r skills; ln -s /usr/share skills", true),
    ("a link to nowhere", "rm -r skills; ln -s nowhere skills", true),
    ("closed skills", "mkdir -p skills; chmod 000 skills", true),
    ("a folder in the place of the skill", "rm skills/*/SKILL.md; mkdir -p skills/python-sandbox/SKILL.md/x", true),
    ("a pipe in the place of the skill", "rm skills/*/SKILL.md; mkfifo skills/python-sandbox/SKILL.md", false),
    ("a closed workspace", "chmod 000 /workspace", false),
    ("a workspace that cannot be written", "chmod 500 /workspace", false),
    (
        "dotfiles",
        "ln -s .profile .profile; mkdir .bashrc .bash_profile .bash_login; mkfifo .cache; echo x > .local; ln -s . .config",
        false,
    ),
    ("names that are not text", "touch $'\\xff\\xfe' $'a\\nb'; mkdir -p $'d\\xff'/x; echo x > $'d\\xff/\\xfe'", false),
    ("closed folders", "mkdir -p a/b/c; echo x > a/b/c/f; chmod 000 a/b/c a/b a", false),
    (
        "deep and closed folders",
        "for i in $(seq 700); do mkdir d; cd d; done; touch f; chmod 000 ../../d; cd /workspace; chmod 000 d",
        false,
    ),
];

#[tokio::test]
async fn no_mess_keeps_a_session_from_starting() {
    on_every_host("attacks::own_files::no_mess_keeps_a_session_from_starting", async |host| {
        for (what, mess, warns) in MESSES {
            let cargo = tempfile::tempdir().unwrap();
            let start = || host.sandbox_with(|options| options.workspace = cargo.path().to_owned());
            let first = start().await;
            let answer = first.shell(mess).await;
            assert_eq!(answer["stderr"], "", "{what}: {answer}");
            // In the middle of a session as well.
            assert_eq!(files_work(&first, what).await, 0, "{what}");
            first.shell(mess).await;
            first.cell.kill().await.unwrap();

            let second = start().await;
            let (_, meta) = second.get("/meta").await;
            let warnings = meta["warnings"].as_array().unwrap();
            // Besides what the machine does not enforce.
            let about_files = |warning: &&serde_json::Value| *warning != cove_cell::MEMORY_WATCHED;
            assert_eq!(warnings.iter().any(|warning| about_files(&warning)), *warns, "{what}: {meta}");
            let host = cargo.path().to_str().unwrap();
            assert!(!meta.to_string().contains(host), "{what}: a path of the host: {meta}");
            assert_eq!(second.out("echo fine").await, "fine", "{what}");
            files_work(&second, what).await;
        }
    })
    .await;
}

/// Lists, writes, reads, and deletes everything that has a name to be asked for; how many entries are left.
async fn files_work(sandbox: &Sandbox, what: &str) -> usize {
    sandbox.ok("/fs/write_file", json!({"path": "new.txt", "content": "new"})).await;
    assert_eq!(sandbox.ok("/fs/read_file", json!({"path": "new.txt"})).await["content"], "new", "{what}");
    let read = sandbox.ok("/fs/tool", json!({"tool": "read", "args": [{"path": "new.txt"}]})).await;
    assert!(read.to_string().contains("new"), "{what}: {read}");
    let listed = sandbox.ok("/fs/list_dir", json!({"path": "."})).await;
    let names: Vec<_> = listed["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"new.txt"), "{what}: {names:?}");
    for name in names {
        sandbox.ok("/fs/delete_file", json!({"path": name})).await;
    }
    sandbox.ok("/fs/list_dir", json!({"path": "."})).await["files"].as_array().unwrap().len()
}
