//! `cove run`: one file, one fresh world, one value.

mod plan;
pub(crate) mod print;
pub(crate) mod source;

use crate::args::Run;
use crate::exit::Exit;
use crate::terminal::{PLAIN, RED, note};

pub(crate) async fn run(args: Run) -> anyhow::Result<Exit> {
    let json = args.json;
    args.raw.apply();
    let plan = match plan::read(args) {
        Ok(plan) => plan,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error:#}");
            return Ok(Exit::Usage);
        }
    };
    let report = plan.runner.run(plan.request).await;
    let exit = Exit::of(&report);
    if json {
        print::as_json(&report)?;
    } else {
        print::for_people(&report, &plan.view)?;
    }
    Ok(exit)
}
