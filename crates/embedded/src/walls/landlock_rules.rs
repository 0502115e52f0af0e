//! Landlock with no exception: all rights handled, none granted.

use cove_walls::landlock_rules::{LandlockRules, SINCE};

use super::{Survey, WallName};

/// Takes every right that the running kernel lets Landlock take.
pub(super) fn restrict(survey: &mut Survey) {
    let version = LandlockRules::default().without_files().without_network().without_others().put_on();
    let parts = [
        (WallName::LandlockFiles, SINCE.files, "no file"),
        (WallName::LandlockNetwork, SINCE.network, "no TCP"),
        (WallName::LandlockScope, SINCE.scope, "no signal, no abstract socket"),
    ];
    for (name, since, what) in parts {
        let outcome = match &version {
            Ok(version) if *version >= since => Ok(format!("{what} (version {version})")),
            Ok(version) => Err(format!("the kernel has version {version}, this needs {since}")),
            Err(error) => Err(error.clone()),
        };
        survey.note(name, outcome);
    }
}
