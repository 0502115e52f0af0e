//! The state of one walk: what was found, what will be spliced.
//!
//! The walk itself is in `walk`; what it does at each kind of node is in the file named for it.

use std::collections::BTreeSet;

use cove_core::FaultKind;
use oxc_ast::ast::Program;
use oxc_semantic::Scoping;
use oxc_span::Span;
use oxc_syntax::symbol::SymbolId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::edits::Edits;
use crate::enums::Members;
use crate::module::ModuleParts;
use crate::node::NodeFrame;
use crate::options::{Language, Mode, PrepareOptions};
use crate::parse::Parsed;
use crate::redeclared;
use crate::refusal::Finding;
use crate::text;

pub(crate) struct Rewriter<'a, 'o> {
    pub(crate) source: &'a str,
    pub(crate) language: Language,
    /// `await` is a name in the text.
    plain: bool,
    pub(crate) options: &'o PrepareOptions<'o>,
    pub(crate) guards: bool,
    pub(crate) scoping: &'o Scoping,
    pub(crate) edits: Edits,
    /// The finding with the smallest offset so far.
    pub(crate) finding: Option<Finding>,
    /// How many functions (or static blocks) are open.
    pub(crate) functions: u32,
    /// How many functions with an `arguments` of their own are open.
    pub(crate) own_arguments: u32,
    /// How many calls were seen in the current function so far.
    pub(crate) calls: u32,
    /// How many lists of arguments are open.
    pub(crate) call_depth: u32,
    /// How many `finally` blocks are open in the current function.
    pub(crate) finally: u32,
    /// Whether the class whose members are being visited extends another.
    pub(crate) derived: bool,
    /// The enums whose members are being visited, and what earlier declarations of each had for members.
    pub(crate) enums: Vec<(String, FxHashSet<String>)>,
    /// The members of the enums declared so far.
    pub(crate) members: FxHashMap<SymbolId, Members>,
    /// Whether there is an `await` outside every function.
    pub(crate) top_await: bool,
    /// The first `return` outside every function.
    pub(crate) top_return: Option<u32>,
    /// Something like `f<T>(x)` was read as two comparisons.
    pub(crate) looks_generic: bool,
    /// The text has `<!--` or `-->` in it somewhere.
    pub(crate) html: bool,
    /// Strings, templates and regular expressions, noted only if `html`.
    pub(crate) literals: Vec<Span>,
    pub(crate) free: Vec<(&'a str, u32)>,
    free_seen: FxHashSet<&'a str>,
    /// Languages and time zones asked for by name.
    pub(crate) locales: Vec<(&'a str, u32)>,
    /// Names declared at the top level.
    pub(crate) declared: Vec<String>,
    declared_seen: FxHashSet<&'a str>,
    /// Statements (by their start) that may give the cell its value.
    pub(crate) captured: FxHashSet<u32>,
    /// Top-level functions of a cell.
    pub(crate) hoisted: Vec<String>,
    /// Whether the name at hand is only asked for its type.
    pub(crate) asks_type: bool,
    /// Names that are there wherever the walk is now: a guard says so.
    pub(crate) guarded: Vec<&'a str>,
    /// Free names that are used where nothing says that they are there.
    needed: FxHashSet<&'a str>,
    /// Names of Node's that the body uses, and not only asks for.
    pub(crate) node_names: Vec<&'a str>,
    /// Names that are assigned and declared nowhere, in a function body.
    pub(crate) implicit: Vec<&'a str>,
    /// Functions that are declared in a block and used outside of it.
    pub(crate) block_functions: BTreeSet<&'a str>,
    /// Names that are known as properties of the global object.
    pub(crate) global_members: FxHashSet<&'a str>,
    /// Names that are set as properties of the global object.
    pub(crate) global_writes: FxHashSet<&'a str>,
    /// Built-in objects whose members a function body sets.
    pub(crate) own_objects: Vec<&'static str>,
    /// What the text requires, and in a module what it imports and exports.
    pub(crate) module: ModuleParts,
}

/// What the walk leaves behind.
pub(crate) struct Finished<'a> {
    pub(crate) edits: Edits,
    pub(crate) head: String,
    pub(crate) tail: String,
    pub(crate) free_names: Vec<(&'a str, u32)>,
    pub(crate) needed: FxHashSet<&'a str>,
    pub(crate) locales: Vec<(&'a str, u32)>,
    pub(crate) declared: Vec<String>,
    pub(crate) returns: bool,
    pub(crate) takes_last: bool,
}

impl<'a, 'o> Rewriter<'a, 'o> {
    pub(crate) fn new(
        source: &'a str,
        parsed: &Parsed<'_>,
        options: &'o PrepareOptions<'o>,
        scoping: &'o Scoping,
    ) -> Self {
        Self {
            source,
            language: parsed.language,
            plain: parsed.plain,
            options,
            guards: crate::prepare::guards(options),
            scoping,
            edits: Edits::default(),
            finding: None,
            functions: 0,
            own_arguments: 0,
            calls: 0,
            call_depth: 0,
            finally: 0,
            derived: false,
            enums: Vec::new(),
            members: FxHashMap::default(),
            top_await: false,
            top_return: None,
            looks_generic: false,
            html: source.contains("<!--") || source.contains("-->"),
            literals: Vec::new(),
            free: Vec::new(),
            free_seen: FxHashSet::default(),
            locales: Vec::new(),
            declared: Vec::new(),
            declared_seen: FxHashSet::default(),
            captured: FxHashSet::default(),
            hoisted: Vec::new(),
            asks_type: false,
            guarded: Vec::new(),
            needed: FxHashSet::default(),
            node_names: Vec::new(),
            implicit: Vec::new(),
            block_functions: BTreeSet::new(),
            global_members: FxHashSet::default(),
            global_writes: FxHashSet::default(),
            own_objects: Vec::new(),
            module: ModuleParts::default(),
        }
    }

    pub(crate) fn is_cell(&self) -> bool {
        self.options.mode == Mode::Cell
    }

    pub(crate) fn is_body(&self) -> bool {
        self.options.mode == Mode::FunctionBody
    }

    pub(crate) fn is_typescript(&self) -> bool {
        self.language == Language::TypeScript
    }

    /// Keeps the finding that stands first in the text: that is the one to fix first.
    pub(crate) fn refuse(&mut self, finding: Finding) {
        if self.finding.as_ref().is_none_or(|first| finding.offset < first.offset) {
            self.finding = Some(finding);
        }
    }

    pub(crate) fn refuse_at(&mut self, offset: u32, message: impl Into<String>, hint: &str) {
        self.refuse(Finding::new(FaultKind::Refused, offset, message).hint(hint));
    }

    /// Notes a use of a name that the program does not declare.
    pub(crate) fn note_free(&mut self, name: &'a str, offset: u32) {
        if self.is_needed(name) {
            self.needed.insert(name);
        }
        if self.free_seen.insert(name) {
            self.free.push((name, offset));
        } else if let Some(last) = self.free.last_mut()
            && last.0 == name
        {
            last.1 = last.1.min(offset);
        }
    }

    pub(crate) fn declare(&mut self, name: &'a str) {
        if self.declared_seen.insert(name) {
            self.declared.push(name.to_owned());
        }
    }

    /// Puts the wrapper around it, or reports what was found.
    pub(crate) fn finish(mut self, program: &Program<'a>) -> Result<Finished<'a>, Finding> {
        self.split_html_comments(program);
        self.module.is_es |= self.top_await;
        let is_function = match self.options.mode {
            Mode::Dynamic => false,
            Mode::Module => !self.module.is_es,
            Mode::FunctionBody | Mode::Cell => true,
        };
        if let Some(offset) = self.top_return.filter(|_| !is_function) {
            self.refuse(Finding::new(FaultKind::Syntax, offset, "`return` is only allowed inside a function here"));
        }
        if let Some(finding) = self.finding {
            return Err(finding);
        }
        if let Some(hashbang) = &program.hashbang {
            self.edits.replace(hashbang.span.start, hashbang.span.start + 2, "//");
        }
        self.free.sort_by_key(|free| free.1);
        if self.options.mode == Mode::Module && !self.module.is_es {
            self.free.retain(|(name, _)| !matches!(*name, "module" | "exports" | "require"));
        }
        let (head, tail) = match self.options.mode {
            Mode::FunctionBody => self.body_frame(),
            Mode::Cell => (self.cell_head(), "\n;return __cove_v})".to_owned()),
            // `void 0`: the directive must not become the value of an empty text.
            Mode::Dynamic => ("\"use strict\";void 0;".to_owned(), String::new()),
            Mode::Module => self.module_frame(),
        };
        Ok(Finished {
            edits: self.edits,
            head,
            tail,
            free_names: self.free,
            needed: self.needed,
            locales: self.locales,
            declared: self.declared,
            returns: self.top_return.is_some(),
            takes_last: self.options.mode == Mode::FunctionBody && !self.captured.is_empty(),
        })
    }

    /// The function around a body. `input` and `getCanvas` are its parameters: what becomes of the globals of that name
    /// changes nothing.
    fn body_frame(&mut self) -> (String, String) {
        let implicit = self.implicit_names();
        self.free.retain(|(name, _)| self.global_members.contains(name) || !self.implicit.contains(name));
        let NodeFrame { mut around, before, exported } = self.node_frame();
        around.push_str(&self.own_objects());
        // The user's own `let input` would clash with the parameter.
        let mut parameters = if self.is_lexical("input") { "__cove_p" } else { "input" }.to_owned();
        if self.free.iter().any(|(name, _)| *name == "getCanvas") && !self.global_writes.contains("getCanvas") {
            parameters.push_str(",getCanvas");
        }
        let (keep, give) = if self.captured.is_empty() { ("", "") } else { ("let __cove_v;", "\n;return __cove_v") };
        // What is given of Node's lies around the function: names that the user declares are not those that it uses.
        let (open, close) = match around.as_str() {
            "" => (String::new(), ""),
            around => (format!("(()=>{{\"use strict\";{around}return"), "})()"),
        };
        let head = format!("{open}(async function({parameters}){{\"use strict\";{implicit}{before}");
        if self.plain {
            let head = format!("{head}return(function({parameters}){{\"use strict\";{keep}");
            return (head, format!("{exported}{give}\n}}).call(this,{parameters})}}){close}"));
        }
        (head + keep, format!("{exported}{give}\n}}){close}"))
    }

    /// Whether the text declares the name at its top level, and not by `var` or `function`.
    fn is_lexical(&self, name: &str) -> bool {
        let flags = self.scoping.get_root_binding(name.into()).map(|symbol| self.scoping.symbol_flags(symbol));
        flags.is_some_and(|flags| !redeclared::AGAIN.contains(flags))
    }

    /// `x<!--y` and `x-->0` are operators here and comments in a script: a space makes them operators everywhere.
    fn split_html_comments(&mut self, program: &Program<'a>) {
        if !self.html {
            return;
        }
        let mut opaque = std::mem::take(&mut self.literals);
        opaque.extend(program.comments.iter().map(|comment| comment.span));
        opaque.extend(program.hashbang.iter().map(|line| line.span));
        self.edits.replaced(|start, end| opaque.push(Span::new(start, end)));
        opaque.sort_unstable_by_key(|span| (span.start, span.end));
        // The furthest end of any span that begins at or before this one: spans may nest.
        let mut reach = 0;
        let reaches: Vec<u32> = opaque
            .iter()
            .map(|span| {
                reach = reach.max(span.end);
                reach
            })
            .collect();
        for (mark, split) in [("<!--", 1), ("-->", 2)] {
            for (at, _) in self.source.match_indices(mark) {
                let at = text::offset(at + split);
                let before = opaque.partition_point(|span| span.start < at);
                if before.checked_sub(1).and_then(|index| reaches.get(index)).is_none_or(|end| *end <= at) {
                    self.edits.insert(at, " ");
                }
            }
        }
    }
}
