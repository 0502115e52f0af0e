//! A host for tests: keeps what the guest says, answers tools in this very process.
#![allow(dead_code, unreachable_pub)]

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use cove_core::{Clock, Fault, ImportPolicy, Limits, LogLevel, LogLine, Random, RunReport, RunRequest, RunShape};
use cove_world::{Event, Port, Setup, ToolDecl, ToolFailure, World};
use serde_json::{Value, json};

type Handler = Box<dyn FnMut(&[Value]) -> Result<Value, String>>;

/// The port of a test.
#[derive(Default)]
pub struct Desk {
    pub lines: Vec<LogLine>,
    pub calls: Vec<(String, Vec<Value>)>,
    handlers: HashMap<String, Handler>,
    answers: VecDeque<(u64, Result<String, ToolFailure>)>,
    /// Answers the latest call first.
    pub backwards: bool,
    /// Never answers anything.
    pub deaf: bool,
    /// For how long the guest wanted to wait, each time it waited.
    pub waits: Vec<Option<Duration>>,
}

impl Desk {
    pub fn tool(&mut self, name: &str, handler: impl FnMut(&[Value]) -> Result<Value, String> + 'static) {
        self.handlers.insert(name.to_owned(), Box::new(handler));
    }

    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl Port for Desk {
    fn log(&mut self, line: &LogLine) {
        self.lines.push(line.clone());
    }

    fn call_tool(&mut self, id: u64, name: &str, args_json: &str) {
        let args: Vec<Value> = serde_json::from_str(args_json).expect("arguments are a JSON array");
        let result = match self.handlers.get_mut(name) {
            Some(handler) => handler(&args),
            None => Err(format!("no tool named {name}")),
        };
        self.calls.push((name.to_owned(), args));
        let answer = result.map(|value| value.to_string()).map_err(|message| ToolFailure { message, code: None });
        self.answers.push_back((id, answer));
    }

    fn picture(&mut self, _name: Option<&str>, _width: u32, _height: u32, _png: &[u8]) {}

    fn wait(&mut self, at_most: Option<Duration>) -> Event {
        self.waits.push(at_most);
        let next = if self.backwards { self.answers.pop_back() } else { self.answers.pop_front() };
        if let Some((id, result)) = next
            && !self.deaf
        {
            return Event::ToolAnswer { id, result };
        }
        let Some(wait) = at_most else { return Event::Closed };
        // A timer of the guest's: nothing else can happen in this process meanwhile.
        let until = Instant::now() + wait;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(left);
        }
        Event::Elapsed
    }
}

/// A world and its host.
pub struct Guest {
    pub world: World,
    pub desk: Desk,
}

pub fn setup() -> Setup {
    Setup {
        limits: Limits { memory_bytes: 64 << 20, ..Limits::ONE_SHOT },
        clock: Clock::Real,
        random: Random::Real,
        seed: [7; 32],
        imports: ImportPolicy::default(),
        network: false,
        log_levels: vec![LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error],
    }
}

impl Guest {
    pub fn new() -> Self {
        Self::with(&setup())
    }

    pub fn with(setup: &Setup) -> Self {
        let mut world = World::new().expect("a world");
        world.configure(setup).expect("configured");
        Self { world, desk: Desk::default() }
    }

    pub fn tools(&mut self, names: &[(&str, bool)]) {
        let tools: Vec<_> =
            names.iter().map(|(name, sync)| ToolDecl { name: (*name).to_owned(), sync: *sync }).collect();
        self.world.set_tools(&tools).expect("tools");
    }

    pub fn report(&mut self, code: &str, cell: bool, max_operations: Option<u64>) -> RunReport {
        let shape = if cell { RunShape::Cell } else { RunShape::FunctionBody };
        self.world.run(&RunRequest { shape, max_operations, ..RunRequest::new(code) }, &mut self.desk)
    }

    /// A function body, or its fault.
    pub fn body(&mut self, code: &str) -> Result<Value, Fault> {
        self.report(code, false, None).result.map(|ended| ended.value)
    }

    /// A cell, or its fault.
    pub fn cell(&mut self, code: &str) -> Result<Value, Fault> {
        self.report(code, true, Some(50_000)).result.map(|ended| ended.value)
    }

    pub fn with_input(&mut self, code: &str, input: Value) -> Result<Value, Fault> {
        self.world
            .run(&RunRequest { input: Some(input), ..RunRequest::new(code) }, &mut self.desk)
            .result
            .map(|ended| ended.value)
    }
}

/// The value of a function body in a fresh world.
pub fn value(code: &str) -> Value {
    match Guest::new().body(code) {
        Ok(value) => value,
        Err(fault) => json!({ "fault": fault.message }),
    }
}
