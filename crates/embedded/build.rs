//! Links the unwinder into the program instead of loading it from a library of its own.
//!
//! A worker is started for every `cove run` and forked for every session. One library less is a tenth of a millisecond
//! less for each start (its loader asks the processor what it can do, which is slow inside virtual machines) and five
//! mappings less to copy for each fork. Where the C compiler has no such archive, or another linker is asked for (the
//! packages' brings an unwinder of its own), nothing changes.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let is_native = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    let is_usual = std::env::var_os("RUSTC_LINKER").is_none();
    if is_native && is_usual && target("OS") == "linux" && target("ENV") == "gnu" && archive_is_there() {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Asks the linker's front end, which alone knows where its archives lie; it answers with the bare name if it has none.
#[expect(clippy::disallowed_methods, reason = "a build script asks the compiler and waits for its one line")]
fn archive_is_there() -> bool {
    let asked = std::process::Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    asked.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}
