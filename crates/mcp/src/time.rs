//! How long a call may take: `timeout_ms`, the same for every tool.
//!
//! One unit, because a model that has once seen milliseconds sends 30000 everywhere. Clients of such servers know
//! `timeout` as well: seconds, except for `run_javascript`, where it always was milliseconds. It is still understood, and
//! listed nowhere.

use std::time::Duration;

use serde_json::Value;

use crate::args::Args;
use crate::failure::Failure;

/// What a tool's run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) least_ms: u64,
    pub(crate) usual_ms: u64,
    pub(crate) most_ms: u64,
}

/// One piece of code, one command.
pub(crate) const ONE: Bounds = Bounds { least_ms: 1, usual_ms: 30_000, most_ms: 300_000 };

/// One command of a browser, which answers nothing in less than a second.
pub(crate) const BROWSER: Bounds = Bounds { least_ms: 1_000, ..ONE };

/// Several commands of a browser.
pub(crate) const SEVERAL: Bounds = Bounds { least_ms: 1_000, usual_ms: 60_000, most_ms: 600_000 };

const JAVASCRIPT: &str = "run_javascript";

/// Takes out the time that a call asks for.
pub(crate) fn take(tool: &str, bounds: Bounds, args: &mut Args) -> Result<Duration, Failure> {
    let (exact, other) = (args.take("timeout_ms"), args.take("timeout"));
    let (name, unit, given) = match (exact, other) {
        (Some(exact), _) => ("timeout_ms", 1, exact),
        (None, Some(other)) => ("timeout", unit_ms(tool), other),
        (None, None) => return Ok(Duration::from_millis(bounds.usual_ms)),
    };
    let (least, most) = (bounds.least_ms.div_ceil(unit), bounds.most_ms / unit);
    match given.as_u64().filter(|number| (least..=most).contains(number)) {
        Some(number) => Ok(Duration::from_millis(number * unit)),
        None => {
            let named = if unit == 1 { "milliseconds" } else { "seconds" };
            Err(Failure::args(format!("`{name}` must be a whole number of {named} from {least} to {most}")))
        }
    }
}

/// The time-out that the parameters of a `tools/call` name, if they do.
pub fn timeout_of(params: &Value) -> Option<Duration> {
    let arguments = &params["arguments"];
    match arguments["timeout_ms"].as_u64() {
        Some(exact) => Some(Duration::from_millis(exact)),
        None => {
            let unit = unit_ms(params["name"].as_str().unwrap_or_default());
            arguments["timeout"].as_u64().map(|number| Duration::from_millis(number.saturating_mul(unit)))
        }
    }
}

/// What `timeout` counts in.
fn unit_ms(tool: &str) -> u64 {
    if tool == JAVASCRIPT { 1 } else { 1_000 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn milliseconds_everywhere_and_the_old_names_still_hold() {
        for (tool, given, expected) in [
            ("execute_shell", json!({}), Ok(30_000)),
            ("execute_shell", json!({"timeout_ms": 1_500}), Ok(1_500)),
            ("execute_shell", json!({"timeout": 2}), Ok(2_000)),
            ("execute_shell", json!({"timeout_ms": 5, "timeout": 2}), Ok(5)),
            ("execute_shell", json!({"timeout_ms": null, "timeout": 2.0}), Ok(2_000)),
            ("run_javascript", json!({"timeout": 100}), Ok(100)),
            ("run_javascript", json!({"timeout_ms": 100}), Ok(100)),
            (
                "run_javascript",
                json!({"timeout_ms": 0}),
                Err("`timeout_ms` must be a whole number of milliseconds from 1 to 300000"),
            ),
            (
                "execute_shell",
                json!({"timeout": 301}),
                Err("`timeout` must be a whole number of seconds from 1 to 300"),
            ),
            (
                "execute_shell",
                json!({"timeout_ms": "x"}),
                Err("`timeout_ms` must be a whole number of milliseconds from 1 to 300000"),
            ),
        ] {
            let mut args = Args::new(given.as_object().cloned());
            let taken = take(tool, ONE, &mut args).map(|time| time.as_millis()).map_err(|failure| failure.message);
            assert_eq!(taken, expected.map_err(str::to_owned), "{tool} {given}");
            if let Ok(ms) = taken {
                let params = json!({"name": tool, "arguments": given});
                let read = timeout_of(&params).map(|time| time.as_millis());
                assert!(read.is_none_or(|read| read == ms), "{params}");
            }
        }
        assert_eq!(
            timeout_of(&json!({"name": "x", "arguments": {"timeout": u64::MAX}})),
            Some(Duration::from_millis(u64::MAX))
        );
        assert_eq!(timeout_of(&json!({"name": "ls"})), None);
    }
}
