//! The world itself: built once, then set up, then run.

use cove_core::{Fault, FaultKind};
use serde_json::{Map, Value};

use crate::{Job, Port, Report, Setup, ToolDecl, WorldError};

/// One runtime with one hardened, frozen realm.
#[derive(Debug)]
pub struct World {
    _single_threaded: std::marker::PhantomData<*const ()>,
}

impl World {
    /// Everything that can be done before a session exists: realm, permits, taming, freezing.
    pub fn new() -> Result<Self, WorldError> {
        Ok(Self { _single_threaded: std::marker::PhantomData })
    }

    /// Makes this world one session's own. Once, after the fork.
    pub fn configure(&mut self, _setup: &Setup) -> Result<(), WorldError> {
        Ok(())
    }

    /// Sets global variables, deep-frozen; a name that was sent before is replaced.
    pub fn set_variables(&mut self, _variables: &Map<String, Value>) -> Result<(), WorldError> {
        Ok(())
    }

    /// Makes host functions callable, in addition to the earlier ones.
    pub fn set_tools(&mut self, _tools: &[ToolDecl]) -> Result<(), WorldError> {
        Ok(())
    }

    /// Prepares the source and runs it to its end.
    pub fn run(&mut self, _job: &Job, _port: &mut dyn Port) -> Report {
        Report {
            result: Err(Fault::new(FaultKind::EngineLost, "this build has no engine yet")),
            operations: 0,
            memory_bytes: 0,
            usable: true,
        }
    }
}
