//! Names: reserved ones, those of tools, and those the program takes from the world around it.

use cove_core::FaultKind;
use oxc_ast::ast::{BindingIdentifier, IdentifierReference};
use oxc_syntax::symbol::SymbolFlags;

use crate::node;
use crate::options::Mode;
use crate::refusal::Finding;
use crate::rewriter::Rewriter;

/// What the prepared code's own names begin with. No user may write such a name, however it is spelt.
const RESERVED: &str = "__cove";

impl<'a> Rewriter<'a, '_> {
    /// Refuses a reserved name. `name` is the cooked one: `\u005f_cove` does not get past.
    pub(crate) fn check_name(&mut self, name: &str, offset: u32) {
        if name.starts_with(RESERVED) {
            self.refuse_at(
                offset,
                format!("The name `{name}` is reserved"),
                "Choose a name that does not begin with `__cove`.",
            );
        }
    }

    pub(crate) fn reference(&mut self, it: &IdentifierReference<'a>) {
        let name: &'a str = it.name.as_str();
        let offset = it.span.start;
        self.check_name(name, offset);
        if let Some(read) = self.imported(it) {
            let read = read.to_owned();
            self.edits.replace(offset, it.span.end, read);
            return;
        }
        let Some(reference) = it.reference_id.get().map(|id| self.scoping.get_reference(id)) else { return };
        if let Some(symbol) = reference.symbol_id() {
            if self.scoping.symbol_flags(symbol).contains(SymbolFlags::EnumMember) {
                self.enum_member_reference(it);
            }
            return;
        }
        if self.is_earlier_member(name) {
            self.enum_member_reference(it);
            return;
        }
        if name == "arguments" {
            if self.own_arguments == 0 && self.options.mode != Mode::Module {
                let message = "`arguments` does not exist outside a function";
                self.refuse(Finding::new(FaultKind::Syntax, offset, message));
            }
            return;
        }
        if reference.is_write() && self.options.tool_names.iter().any(|tool| tool == name) {
            self.refuse_at(offset, format!("`{name}` is a tool and cannot be assigned"), "Use another variable name.");
        }
        if self.is_body() && !self.asks_type && node::is_given(name) && !self.node_names.contains(&name) {
            self.node_names.push(name);
        }
        if self.is_body() && reference.is_write() && !reference.is_read() {
            self.note_assigned(name);
        }
        if !(name == "input" && self.options.mode == Mode::FunctionBody) {
            self.note_free(name, offset);
        }
    }

    /// A name declared at the top level.
    pub(crate) fn declare_top(&mut self, it: &BindingIdentifier<'a>) {
        let name = it.name.as_str();
        if self.is_cell() && self.options.tool_names.iter().any(|tool| tool == name) {
            self.refuse_at(
                it.span.start,
                format!("`{name}` is a tool and cannot be declared again"),
                "Use another variable name.",
            );
        }
        if self.is_cell() && matches!(name, "undefined" | "NaN" | "Infinity" | "globalThis") {
            self.refuse_at(it.span.start, format!("`{name}` cannot be declared"), "Use another variable name.");
        }
        self.declare(name);
    }
}
