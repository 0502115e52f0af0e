//! The escape suite: everything a guest would try, and a neighbour who must not notice.

use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use serde_json::json;

use crate::support::{Sandbox, sandbox};
use crate::tries::{BASH, PYTHON};

/// What there is outside for a guest to want.
struct Outside {
    secret: tempfile::NamedTempFile,
    tcp: std::net::TcpListener,
    shared: tempfile::TempPath,
    name: String,
    _abstract: UnixListener,
}

const SECRET: &str = "the host's own secret";

impl Outside {
    fn new() -> Self {
        let mut secret = tempfile::NamedTempFile::new().unwrap();
        secret.write_all(SECRET.as_bytes()).unwrap();
        std::fs::set_permissions(secret.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let shared = tempfile::Builder::new().prefix("cove-host-").tempfile_in("/dev/shm").unwrap().into_temp_path();
        let name = format!("cove-host-{}", std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Self { secret, tcp, shared, name, _abstract: listener }
    }

    fn fill(&self, text: &str, guest: &Sandbox, neighbour: &Sandbox) -> String {
        text.replace("{secret}", self.secret.path().to_str().unwrap())
            .replace("{host_pid}", &std::process::id().to_string())
            .replace("{port}", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("{neighbour_pid}", &neighbour.cell.walls().init_pid.to_string())
            .replace("{neighbour}", neighbour.cargo.path().to_str().unwrap())
            .replace("{socket}", guest.cell.socket().to_str().unwrap())
            .replace("{abstract}", &self.name)
    }
}

async fn settle(neighbour: &Sandbox) {
    neighbour.out("echo untouched > mine.txt").await;
    neighbour.python("mine = 'untouched'").await;
    neighbour.ok("/shell/exec", json!({"command": "sleep 999", "background": true})).await;
}

/// The neighbour's files, variables and processes are as they were.
async fn undisturbed(neighbour: &Sandbox) {
    assert_eq!(neighbour.out("cat mine.txt; ls").await, "untouched\nmine.txt\nskills");
    assert_eq!(neighbour.python("mine").await["stdout"], "'untouched'\n");
    assert_eq!(neighbour.get("/shell/processes").await.1["processes"][0]["status"], "running");
}

#[tokio::test]
async fn no_try_gets_out() {
    let (guest, neighbour) = tokio::join!(sandbox(), sandbox());
    settle(&neighbour).await;
    let outside = Outside::new();
    guest.ok("/fs/create_file", json!({"path": "try.py", "content": include_str!("try.py")})).await;
    assert!(BASH.len() + PYTHON.len() >= 60);
    let mut wrong = Vec::new();
    let python = PYTHON.iter().map(|(name, code)| (name, "exec python3 try.py \"$CODE\" 2>&1".to_owned(), *code));
    let bash = BASH.iter().map(|(name, code)| (name, "exec bash -c \"$CODE\" 2>&1".to_owned(), *code));
    for (name, command, code) in bash.chain(python) {
        let code = outside.fill(code, &guest, &neighbour);
        let answer = guest.ok("/shell/exec", json!({"command": command, "env": {"CODE": code}, "timeout": 50})).await;
        let said = answer["stdout"].as_str().unwrap();
        let held = said.contains("held") && !said.contains("BREACH") && !said.contains(SECRET);
        if !held || answer["timed_out"] == true {
            wrong.push(format!("{name}: {code}\n    {said}"));
        }
    }
    assert!(wrong.is_empty(), "{} tries got out or could not be made:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(guest.out("echo Ship answers").await, "Ship answers");
    undisturbed(&neighbour).await;
    // Nobody has knocked at the host's door.
    outside.tcp.set_nonblocking(true).unwrap();
    assert!(outside.tcp.accept().is_err());
    assert!(outside.shared.exists());
}

/// Symlinks in the cargo, planted by the guest, used by Ship.
#[tokio::test]
async fn ship_follows_no_link_out() {
    let guest = sandbox().await;
    let outside = Outside::new();
    let secret = outside.secret.path().display();
    guest.out(&format!("ln -s {secret} file && ln -s / root && ln -s .. up && ln -s /proc/self/root magic")).await;
    for path in ["file", "root/etc/passwd", "up/etc/passwd", "magic/etc/passwd"] {
        guest.refused("/fs/read_file", json!({"path": path}), 400, "invalid_path").await;
        guest.refused("/fs/write_file", json!({"path": path, "content": "x"}), 400, "invalid_path").await;
        guest
            .refused("/fs/edit_file", json!({"path": path, "old_string": "r", "new_string": ""}), 400, "invalid_path")
            .await;
    }
    for path in ["root", "up", "magic", "root/tmp"] {
        guest.refused("/fs/list_dir", json!({"path": path}), 400, "invalid_path").await;
        guest.refused("/shell/exec", json!({"command": "pwd", "cwd": path}), 400, "invalid_path").await;
    }
    guest.refused("/fs/create_file", json!({"path": "up/x"}), 400, "invalid_path").await;
    // Deleting a link deletes the link.
    guest.ok("/fs/delete_file", json!({"path": "root"})).await;
    guest.ok("/fs/delete_file", json!({"path": "file"})).await;
    assert_eq!(std::fs::read_to_string(outside.secret.path()).unwrap(), SECRET);
    assert_eq!(guest.out("ls | xargs; ls -d /usr/bin").await, "magic skills up\n/usr/bin");
}
