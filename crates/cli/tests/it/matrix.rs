//! Machines that lack something: on each of them Cove runs behind the walls that there are and says which are missing, or
//! says what stands in the way and what to change.
//!
//! Each machine is made for one process, from namespaces, mounts and filters of system calls; what only a real container
//! has is tried by `scripts/test-containers`.

use std::path::Path;
use std::process::Command;

use cove_walls::identity::set_no_new_privileges;
use cove_walls::landlock_rules::SINCE;
use cove_walls::seccomp::{Action, Calls};
use serde_json::{Value, json};

use crate::older_landlock::with_landlock;

/// Goes on as root without any capability but the one that lets root be a user of another user namespace.
const FEW_CAPABILITIES: &str = "exec setpriv --bounding-set=-all,+setfcap --inh-caps=-all \"$@\"";

/// What Docker covers of `/proc`.
const MASK_PROC: &str = "for name in kcore keys latency_stats timer_list sched_debug; do
    [ ! -e /proc/$name ] || mount --bind /dev/null /proc/$name
done";

/// What the doctor says on a machine that a script makes, in a mount namespace and in a user namespace with one user, root.
fn on(script: &str) -> Value {
    on_with(&[], script)
}

/// The same with a `/proc` that the script mounts in this way.
fn on_with_proc(option: &str) -> Value {
    let script = format!("mount -t proc -o {option} none /proc; {FEW_CAPABILITIES}");
    on_with(&["--pid", "--fork", "--kill-child"], &script)
}

fn on_with(namespaces: &[&str], script: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount"]).args(namespaces).args(["sh", "-ec", script, "sh"]);
    doctor(command.arg(env!("CARGO_BIN_EXE_cove")), folder.path())
}

/// The same on a machine whose kernel answers some calls with an error.
fn without_calls(calls: &'static [libc::c_long], error: i32) -> Value {
    let filtered = std::thread::spawn(move || {
        let folder = tempfile::tempdir().unwrap();
        set_no_new_privileges().unwrap();
        Calls::of(&[calls]).compile(Action::Fail(error), Action::Allow).unwrap().put_on().unwrap();
        doctor(&mut Command::new(env!("CARGO_BIN_EXE_cove")), folder.path())
    });
    filtered.join().unwrap()
}

fn doctor(command: &mut Command, folder: &Path) -> Value {
    command.args(["doctor", "--json", "--browser", "/nowhere", "--python", "/nowhere"]);
    command.current_dir("/").env("TMPDIR", folder).env("HOME", folder).env("COVE_AGENT_BROWSER", "/nowhere");
    command.env_remove("XDG_RUNTIME_DIR");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {command:?}: {output:?}"))
}

/// The walls of sandboxes, or of the embedded engine, that are missing.
fn missing(part: &Value) -> Vec<&str> {
    let walls = part["walls"].as_array().unwrap().iter().filter(|wall| wall["state"] == "missing");
    walls.map(|wall| wall["name"].as_str().unwrap()).collect()
}

/// Sandboxes are made there.
fn works(name: &str, found: &Value) {
    assert_eq!(found["embedded"]["runs"], true, "{name}: {found}");
    assert_eq!(found["sandboxes"]["runs"], true, "{name}: {found}");
    assert_eq!(found["sandboxes"]["next_step"], Value::Null, "{name}: {found}");
}

/// No sandbox is made there; it is told why, and what to change. JavaScript runs, behind fewer walls.
fn is_refused(name: &str, found: &Value, blocker: &Value, fix: &str) {
    assert_eq!(found["embedded"]["runs"], true, "{name}: {found}");
    let sandboxes = &found["sandboxes"];
    assert_eq!((&sandboxes["runs"], &sandboxes["blocker"]), (&json!(false), blocker), "{name}: {found}");
    assert!(sandboxes["next_step"].as_str().unwrap().contains(fix), "{name}: {found}");
}

/// Machines on which nothing is missing that sandboxes need.
#[test]
fn sandboxes_run_where_they_can() {
    works("root with few capabilities", &on(FEW_CAPABILITIES));
    works("root without SYS_ADMIN", &on("exec setpriv --bounding-set=-sys_admin \"$@\""));
    works("root with every capability, in a user namespace", &on("exec \"$@\""));
    let no_shm = "mkdir $TMPDIR/dev; for name in null zero full random urandom tty; do
            : > $TMPDIR/dev/$name; mount --bind /dev/$name $TMPDIR/dev/$name
        done
        mount --rbind $TMPDIR/dev /dev; [ ! -e /dev/shm ]";
    works("no /dev/shm", &on(&format!("{no_shm}; {FEW_CAPABILITIES}")));
    works("a tiny /tmp", &on(&format!("mount -t tmpfs -o size=16k none /tmp; {FEW_CAPABILITIES}")));
    let no_groups = on(&format!("mount -t tmpfs none /sys; {FEW_CAPABILITIES}"));
    works("no control groups", &no_groups);
    assert_eq!(no_groups["sandboxes"]["memory_is_enforced"], false, "{no_groups}");
    // Covered in its place, and whole in another: the kernel then mounts one more.
    let whole_elsewhere =
        format!("mkdir $TMPDIR/proc; mount --rbind /proc $TMPDIR/proc; {MASK_PROC}; {FEW_CAPABILITIES}");
    works("a masked /proc beside a whole one", &on(&whole_elsewhere));
    works("a /proc without others' processes", &on_with_proc("hidepid=invisible"));
    let only_processes = on_with_proc("subset=pid");
    works("a /proc of processes alone", &only_processes);
    assert!(missing(&only_processes["sandboxes"]).contains(&"inotify-share"), "{only_processes}");
    let no_landlock = without_calls(&[libc::SYS_landlock_create_ruleset], libc::ENOSYS);
    works("no Landlock", &no_landlock);
    for part in ["embedded", "sandboxes"] {
        assert!(missing(&no_landlock[part]).iter().any(|wall| wall.starts_with("landlock")), "{part}: {no_landlock}");
    }
}

/// Each version of Landlock is put on as far as it goes, and what it does not know is said to be missing.
#[test]
fn an_older_landlock_is_put_on_as_far_as_it_goes() {
    if cove_walls::landlock_rules::version() < SINCE.scope {
        return;
    }
    for (version, in_embedded, in_sandboxes) in [
        (SINCE.files, &["landlock-network", "landlock-scope"][..], &["signal-scope"][..]),
        (SINCE.network, &["landlock-scope"][..], &["signal-scope"][..]),
        (SINCE.scope, &[][..], &[][..]),
    ] {
        let found = with_landlock(version.into(), || {
            let folder = tempfile::tempdir().unwrap();
            doctor(&mut Command::new(env!("CARGO_BIN_EXE_cove")), folder.path())
        });
        works(&format!("version {version} of Landlock"), &found);
        for (part, wanted) in [("embedded", in_embedded), ("sandboxes", in_sandboxes)] {
            let absent = missing(&found[part]);
            let absent: Vec<_> =
                absent.into_iter().filter(|wall| wall.starts_with("landlock") || *wall == "signal-scope").collect();
            assert_eq!(absent, wanted, "{version}, {part}: {found}");
        }
    }
}

/// Machines that keep sandboxes from being made.
#[test]
fn what_keeps_sandboxes_from_being_made_is_told_with_its_fix() {
    let container = |filter: bool, masked_proc: bool| json!({ "container": { "filter": filter, "masked_proc": masked_proc, "app_armor": false } });
    let limit = json!({ "namespace_limit": { "setting": "user.max_user_namespaces" } });
    let none = "echo 0 > /proc/sys/user/max_user_namespaces";
    let fix = "sysctl -w user.max_user_namespaces=";
    is_refused("no user namespaces", &on(&format!("{none}; {FEW_CAPABILITIES}")), &limit, fix);
    is_refused("no user namespaces, for root", &on(&format!("{none}; exec \"$@\"")), &limit, fix);
    let no_capabilities = on("exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"");
    is_refused("root without any capability", &no_capabilities, &json!("root_without_setfcap"), "--user 1000");
    let masked = on(&format!("{MASK_PROC}; {FEW_CAPABILITIES}"));
    is_refused("a masked /proc", &masked, &container(false, true), "--security-opt systempaths=unconfined");
    let chroot = "mkdir $TMPDIR/root; mount --rbind / $TMPDIR/root
        PATH=$PATH:/usr/sbin exec setpriv --bounding-set=-all,+sys_chroot chroot $TMPDIR/root \"$@\"";
    is_refused("a chroot", &on(chroot), &json!("chroot"), "pivot_root");
    let calls = &[libc::SYS_unshare, libc::SYS_mount, libc::SYS_setns, libc::SYS_pivot_root, libc::SYS_sethostname];
    let filtered = without_calls(calls, libc::EPERM);
    is_refused(
        "a filter of system calls",
        &filtered,
        &container(true, false),
        "--security-opt seccomp=cove-seccomp.json",
    );
    assert!(missing(&filtered["embedded"]).contains(&"user-namespace"), "{filtered}");
}

/// `cove run` says that there are fewer walls.
#[test]
fn a_run_behind_fewer_walls_says_so() {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-ec", script, "sh", env!("CARGO_BIN_EXE_cove"), "run", "-"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("walls that are missing on this machine: user-namespace"), "{output:?}");
}
