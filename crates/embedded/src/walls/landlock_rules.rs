//! Landlock with no exception: all rights handled, none granted.

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetError, Scope,
};

use super::{Survey, WallName};

fn restrict_all() -> Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V5))?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .restrict_self()
}

/// Takes every right that the running kernel lets Landlock take.
pub(super) fn restrict(survey: &mut Survey) {
    let version = match restrict_all() {
        Ok(RestrictionStatus { landlock: LandlockStatus::Available { effective_abi, .. }, .. }) => {
            Ok(effective_abi as i32)
        }
        Ok(status) => Err(format!("Landlock is not there: {:?}", status.landlock)),
        Err(error) => Err(error.to_string()),
    };
    let parts = [
        (WallName::LandlockFiles, ABI::V1, "no file"),
        (WallName::LandlockNetwork, ABI::V4, "no TCP"),
        (WallName::LandlockScope, ABI::V6, "no signal, no abstract socket"),
    ];
    for (name, since, what) in parts {
        let outcome = match &version {
            Ok(version) if *version >= since as i32 => Ok(format!("{what} (version {version})")),
            Ok(version) => Err(format!("the kernel has version {version}, this needs {}", since as i32)),
            Err(error) => Err(error.clone()),
        };
        survey.note(name, outcome);
    }
}
