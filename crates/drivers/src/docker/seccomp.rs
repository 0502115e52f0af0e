//! The seccomp profile that the engine puts on a container, in the form that engines read.
//!
//! Its list is the one of Ship's own filter by name: Ship puts its filter on as well, which looks at arguments more closely.
//! The browser gets the same list, and what its own sandbox is made of.

use std::sync::OnceLock;

use cove_config::RuntimeType;
use serde_json::{Value, json};

/// What any container may call.
const ALLOWED: &str = include_str!("syscalls.txt");

/// What the sandbox of a browser is made of.
const BROWSER: [&str; 2] = ["unshare", "chroot"];

/// Every flag of `clone` that asks for a namespace.
const NAMESPACES: u32 = 0x7e02_0000;

const ENOSYS: u32 = 38;

/// The profile of a runtime's containers.
pub(super) fn profile(runtime: RuntimeType) -> &'static str {
    static PROFILES: [OnceLock<String>; 2] = [OnceLock::new(), OnceLock::new()];
    let [ship, gull] = &PROFILES;
    match runtime {
        RuntimeType::Ship => ship.get_or_init(|| made(&[], true).to_string()),
        RuntimeType::Gull => gull.get_or_init(|| made(&BROWSER, false).to_string()),
    }
}

fn made(more: &[&str], plain_clone: bool) -> Value {
    let names: Vec<&str> = ALLOWED.split_whitespace().chain(more.iter().copied()).collect();
    let mut clone = json!({"names": ["clone"], "action": "SCMP_ACT_ALLOW"});
    if plain_clone {
        clone["args"] = json!([{"index": 0, "value": NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]);
    }
    json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "syscalls": [
            {"names": names, "action": "SCMP_ACT_ALLOW"},
            clone,
            // Its flags are in memory, where no filter can look: C libraries use `clone` instead.
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS},
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Ship's filter lets through and the engine's does not would be missed in a container only.
    #[test]
    fn the_list_is_that_of_ships_own_filter() {
        let table = include_str!("../../../cell/src/syscalls.rs");
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let cut = |rest: &'static str| rest.split(|c| !is_name(c)).next().unwrap_or_default();
        let names = |text: &'static str| text.split("SYS_").skip(1).map(cut);
        let (allowed, refused) = table.split_once("const REFUSED").unwrap();
        let listed: Vec<&str> = ALLOWED.split_whitespace().collect();
        for name in names(allowed) {
            assert!(listed.contains(&name), "{name} is missing");
        }
        for name in names(refused) {
            assert!(!listed.contains(&name), "{name} is refused by Ship's filter");
        }
        assert!(profile(RuntimeType::Gull).contains("unshare") && !profile(RuntimeType::Ship).contains("unshare"));
    }
}
