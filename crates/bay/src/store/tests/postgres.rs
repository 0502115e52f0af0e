//! A real PostgreSQL for the length of one test: Debian's package, a data folder in memory's reach, a socket, no port.
//!
//! A shell owns the server and waits at the other end of a pipe that this process holds. When the pipe closes, be it by
//! `Drop` or because this process was killed, the shell ends the server and removes the folder.

#![expect(clippy::disallowed_methods, reason = "the shell that owns the server is ended by the pipe that it reads")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::store::ask::ask;

/// Says the folder once the server answers; ends everything when its input ends.
const SCRIPT: &str = r#"
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "no PostgreSQL server here: run scripts/setup" >&2; exit 1; }
trap '' INT
dir=$(mktemp -d /tmp/cove-pg.XXXXXX)
end() { "$bin/pg_ctl" stop -D "$dir/data" -m immediate -s >/dev/null 2>&1 || true; rm -rf "$dir"; }
trap end EXIT
"$bin/initdb" -D "$dir/data" -U bay -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
"$bin/pg_ctl" start -D "$dir/data" -l "$dir/log" -s -w -t 60 -o "-k $dir -c listen_addresses= -c fsync=off \
  -c full_page_writes=off -c synchronous_commit=off -c shared_buffers=16MB -c max_connections=200" </dev/null >/dev/null 2>&1 \
  || { cat "$dir/log" >&2; exit 1; }
echo "$dir"
read _ || true
"#;

/// A running server.
pub(super) struct Postgres {
    shell: Child,
    folder: String,
}

impl Postgres {
    pub(super) fn start() -> Self {
        // The server refuses to run as root.
        let root = std::fs::metadata("/proc/self").map(|meta| std::os::unix::fs::MetadataExt::uid(&meta)).unwrap() == 0;
        let mut command = if root { Command::new("setpriv") } else { Command::new("env") };
        if root {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
        }
        command.args(["sh", "-c", SCRIPT]).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        let mut folder = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut folder).unwrap();
        let folder = folder.trim().to_owned();
        assert!(!folder.is_empty(), "PostgreSQL did not start: {:?}", shell.wait());
        Self { shell, folder }
    }

    fn url(&self, database: &str) -> String {
        format!("postgresql+asyncpg:///{database}?host={}&user=bay", self.folder)
    }

    /// A new, empty database; its URL.
    pub(super) async fn database(&self, name: &str) -> String {
        sqlx::any::install_default_drivers();
        let pool = sqlx::AnyPool::connect(&self.url("postgres").replace("+asyncpg", "")).await.unwrap();
        ask(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).run(&pool).await.unwrap();
        pool.close().await;
        self.url(name)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
        assert!(std::thread::panicking() || !std::path::Path::new(&self.folder).exists(), "{} is left", self.folder);
    }
}
