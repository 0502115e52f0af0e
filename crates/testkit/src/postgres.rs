//! A real PostgreSQL for the length of one test: Debian's package, a folder of its own, a socket, no port.
//!
//! A shell owns the server and waits at the other end of a pipe that this process holds. When the pipe closes, be it by
//! `Drop` or because this process was killed, the shell ends the server and removes the folder.

#![expect(clippy::disallowed_methods, reason = "the shell that owns the server is ended by the pipe that it reads")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Says the folder once the server answers; repeats each word that it has obeyed; ends everything when its input ends.
const SCRIPT: &str = r#"
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "no PostgreSQL server here: run scripts/setup" >&2; exit 1; }
trap '' INT
dir=$(mktemp -d /tmp/cove-pg.XXXXXX)
end() { "$bin/pg_ctl" stop -D "$dir/data" -m immediate -s >/dev/null 2>&1 || true; rm -rf "$dir"; }
trap end EXIT
go() { "$bin/pg_ctl" start -D "$dir/data" -l "$dir/log" -s -w -t 60 -o "-k $dir -c listen_addresses= -c fsync=off \
  -c full_page_writes=off -c synchronous_commit=off -c shared_buffers=16MB -c max_connections=200" </dev/null >/dev/null 2>&1 \
  || { cat "$dir/log" >&2; exit 1; } }
"$bin/initdb" -D "$dir/data" -U bay -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
go
"$bin/createdb" -h "$dir" -U bay bay
echo "$dir"
while read word name; do
  case $word in
    stop) "$bin/pg_ctl" stop -D "$dir/data" -m fast -s -w >/dev/null ;;
    go) go ;;
    create) "$bin/createdb" -h "$dir" -U bay "$name" ;;
  esac
  echo "$word"
done
"#;

/// A running server.
pub struct Postgres {
    shell: Child,
    said: BufReader<ChildStdout>,
    folder: String,
}

impl Postgres {
    /// A new server with one empty database.
    ///
    /// # Panics
    /// When there is no PostgreSQL on this machine, or it does not start.
    pub fn start() -> Self {
        // The server refuses to run as root.
        let root = rustix::process::geteuid().is_root();
        let mut command = Command::new(if root { "setpriv" } else { "env" });
        if root {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
        }
        command.args(["sh", "-c", SCRIPT]).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        let mut said = BufReader::new(shell.stdout.take().unwrap());
        let mut folder = String::new();
        said.read_line(&mut folder).unwrap();
        let folder = folder.trim().to_owned();
        assert!(!folder.is_empty(), "PostgreSQL did not start: {:?}", shell.wait());
        Self { shell, said, folder }
    }

    /// The URL of its database.
    pub fn url(&self) -> String {
        self.url_of("bay")
    }

    /// One more empty database; its URL.
    pub fn create(&mut self, database: &str) -> String {
        self.tell("create", database);
        self.url_of(database)
    }

    fn url_of(&self, database: &str) -> String {
        format!("postgresql:///{database}?host={}&user=bay", self.folder)
    }

    /// Nobody answers any more.
    pub fn stop(&mut self) {
        self.tell("stop", "");
    }

    /// Somebody does again, with all that was there.
    pub fn go_on(&mut self) {
        self.tell("go", "");
    }

    fn tell(&mut self, word: &str, name: &str) {
        writeln!(self.shell.stdin.as_mut().unwrap(), "{word} {name}").unwrap();
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), word, "PostgreSQL did not obey");
    }

    /// Says something to its database, and stays until it is dropped: what it locked is locked until then.
    ///
    /// # Panics
    /// When the database refuses it.
    pub fn session(&self, said: &str) -> PostgresSession {
        let mut command = Command::new("psql");
        command.args(["-h", &self.folder, "-U", "bay", "-qtA", "-v", "ON_ERROR_STOP=1", "bay"]);
        let mut child = command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{said}\n\\echo done").unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "done", "{said}");
        PostgresSession { child, input: Some(input) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
        assert!(std::thread::panicking() || !Path::new(&self.folder).exists(), "{} is left", self.folder);
    }
}

/// A connection that stays open.
pub struct PostgresSession {
    child: Child,
    input: Option<ChildStdin>,
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
