//! A PostgreSQL for the length of one test: Debian's package, a folder of its own, a socket, no port.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

/// Says the folder once the server answers; ends everything when its input ends, also because this process was killed.
const SCRIPT: &str = r#"
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "no PostgreSQL server here: run scripts/setup" >&2; exit 1; }
dir=$(mktemp -d /tmp/cove-pg.XXXXXX)
end() { "$bin/pg_ctl" stop -D "$dir/data" -m immediate -s >/dev/null 2>&1 || true; rm -rf "$dir"; }
trap end EXIT
"$bin/initdb" -D "$dir/data" -U bay -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
go() { "$bin/pg_ctl" start -D "$dir/data" -l "$dir/log" -s -w -t 60 -o "-k $dir -c listen_addresses= -c fsync=off" </dev/null >/dev/null; }
go
"$bin/createdb" -h "$dir" -U bay bay
echo "$dir"
while read word; do
  case $word in stop) "$bin/pg_ctl" stop -D "$dir/data" -m fast -s -w >/dev/null ;; go) go ;; esac
  echo "$word"
done
"#;

pub(crate) struct Postgres {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
    folder: String,
}

impl Postgres {
    pub(crate) fn start() -> Self {
        let root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
        // The server refuses to run as root.
        let mut command = Command::new(if root { "setpriv" } else { "env" });
        if root {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
        }
        command.args(["sh", "-c", SCRIPT]).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut folder = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut folder).unwrap();
        assert!(!folder.trim().is_empty(), "PostgreSQL did not start: {:?}", child.wait());
        Self { child, said, folder: folder.trim().to_owned() }
    }

    /// Nobody answers any more.
    pub(crate) fn stop(&mut self) {
        self.tell("stop");
    }

    /// Somebody does again, with all that was there.
    pub(crate) fn go_on(&mut self) {
        self.tell("go");
    }

    fn tell(&mut self, word: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{word}").unwrap();
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), word, "PostgreSQL did not obey");
    }

    pub(crate) fn url(&self) -> String {
        format!("postgresql:///bay?host={}&user=bay", self.folder)
    }

    /// Says something to the database, and stays until it is dropped: what it locked is locked until then.
    pub(crate) fn session(&self, said: &str) -> Session {
        let mut command = Command::new("psql");
        command.args(["-h", &self.folder, "-U", "bay", "-qtA", "-v", "ON_ERROR_STOP=1", "bay"]);
        let mut child = command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{said}\n\\echo done").unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "done", "{said}");
        Session { child, input: Some(input) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub(crate) struct Session {
    child: Child,
    input: Option<std::process::ChildStdin>,
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
