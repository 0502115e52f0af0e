//! The walk: which node goes to which module.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use oxc_syntax::operator::UnaryOperator;
use oxc_syntax::scope::ScopeFlags;

use cove_core::FaultKind;

use crate::cell::DeclaredIn;
use crate::generic;
use crate::options::Mode;
use crate::refusal::Finding;
use crate::rewriter::Rewriter;
use crate::value;

impl<'a> Rewriter<'a, '_> {
    pub(crate) fn program(&mut self, program: &Program<'a>) {
        for directive in &program.directives {
            self.visit_directive(directive);
        }
        if self.is_cell() || self.options.last_value && self.is_body() && !value::returns(&program.body) {
            self.mark_value(program);
        }
        if self.options.mode == Mode::Module {
            self.module_imports(program);
        }
        for statement in &program.body {
            self.top_statement(statement);
        }
    }

    /// An `await` of any form. A plain script has no place for one outside a function.
    pub(crate) fn awaits(&mut self, offset: u32) {
        if self.functions > 0 {
            return;
        }
        self.top_await = true;
        if self.options.mode == Mode::Dynamic {
            let message = "`await` is only allowed inside an async function here";
            self.refuse(Finding::new(FaultKind::Syntax, offset, message));
        }
    }

    /// Visits the inside of a function.
    fn inside(&mut self, own_arguments: bool, visit: impl FnOnce(&mut Self)) {
        let (finally, calls) = (std::mem::take(&mut self.finally), self.calls);
        self.functions += 1;
        self.own_arguments += u32::from(own_arguments);
        visit(self);
        self.own_arguments -= u32::from(own_arguments);
        self.functions -= 1;
        (self.finally, self.calls) = (finally, calls);
    }
}

impl<'a> Visit<'a> for Rewriter<'a, '_> {
    fn visit_statements(&mut self, it: &oxc_allocator::ArenaVec<'a, Statement<'a>>) {
        for statement in it {
            self.list_statement(statement);
        }
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.statement(it);
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        self.expression_statement(it);
    }

    // Names.

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.reference(it);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.check_name(it.name.as_str(), it.span.start);
    }

    fn visit_identifier_name(&mut self, it: &IdentifierName<'a>) {
        self.check_name(it.name.as_str(), it.span.start);
    }

    fn visit_label_identifier(&mut self, it: &LabelIdentifier<'a>) {
        self.check_name(it.name.as_str(), it.span.start);
    }

    fn visit_private_identifier(&mut self, it: &PrivateIdentifier<'a>) {
        self.check_name(it.name.as_str(), it.span.start);
    }

    // Literals, in which nothing is code.

    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        if self.html {
            self.literals.push(it.span);
        }
    }

    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        if self.html {
            self.literals.push(it.span);
        }
    }

    fn visit_reg_exp_literal(&mut self, it: &RegExpLiteral<'a>) {
        if self.html {
            self.literals.push(it.span);
        }
    }

    // Loops.

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.visit_expression(&it.test);
        self.loop_body(&it.body);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.loop_body(&it.body);
        self.visit_expression(&it.test);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        match &it.init {
            Some(ForStatementInit::VariableDeclaration(declaration)) if self.is_cell_var(declaration) => {
                self.cell_declaration(declaration, DeclaredIn::For);
            }
            Some(init) => self.visit_for_statement_init(init),
            None => {}
        }
        it.test.iter().for_each(|test| self.visit_expression(test));
        it.update.iter().for_each(|update| self.visit_expression(update));
        self.loop_body(&it.body);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.loop_body(&it.body);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await {
            self.awaits(it.span.start);
        }
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.loop_body(&it.body);
    }

    fn visit_for_statement_left(&mut self, it: &ForStatementLeft<'a>) {
        match it {
            ForStatementLeft::VariableDeclaration(declaration) if self.is_cell_var(declaration) => {
                self.cell_declaration(declaration, DeclaredIn::ForEach);
            }
            _ => walk::walk_for_statement_left(self, it),
        }
    }

    // The end of a run passes through these.

    fn visit_catch_clause(&mut self, it: &CatchClause<'a>) {
        self.catch_clause(it);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.visit_block_statement(&it.block);
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &it.finalizer {
            self.finally += 1;
            self.visit_block_statement(finalizer);
            self.finally -= 1;
        }
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.functions == 0 {
            self.top_return.get_or_insert(it.span.start);
        }
        self.jump(it.span, |this| walk::walk_return_statement(this, it));
    }

    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        self.jump(it.span, |this| walk::walk_break_statement(this, it));
    }

    fn visit_continue_statement(&mut self, it: &ContinueStatement<'a>) {
        self.jump(it.span, |this| walk::walk_continue_statement(this, it));
    }

    // Functions and classes.

    fn visit_declaration(&mut self, it: &Declaration<'a>) {
        // `function<T>(){}` and `class<T>{}`, which the parser lets pass.
        let nameless = match it {
            Declaration::FunctionDeclaration(it) => it.id.is_none(),
            Declaration::ClassDeclaration(it) => it.id.is_none(),
            _ => false,
        };
        if nameless {
            self.refuse(Finding::new(FaultKind::Syntax, it.span().start, "This declaration needs a name"));
        }
        walk::walk_declaration(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.inside(true, |this| walk::walk_function(this, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.inside(false, |this| this.arrow(it));
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.inside(false, |this| walk::walk_static_block(this, it));
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.method(it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.property(it);
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.accessor(it);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse_at(it.span.start, "Decorators are not supported", "Call the function on the class by hand.");
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.parameter(it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.kind == VariableDeclarationKind::AwaitUsing {
            self.awaits(it.span.start);
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.declarator(it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if !self.shorthand(it) {
            walk::walk_object_property(self, it);
        }
    }

    // Modules.

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.import_expression(it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.note_require(it);
        self.note_locale(it);
        self.call(it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.note_formatter(it);
        self.new_call(it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.calls += 1;
        walk::walk_tagged_template_expression(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.note_patch(&it.left);
        if let AssignmentTarget::StaticMemberExpression(member) = &it.left
            && is_global(&member.object)
        {
            self.global_writes.insert(member.property.name.as_str());
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if is_global(&it.object) {
            self.global_members.insert(it.property.name.as_str());
        }
        self.note_last_match(&it.object, it.property.name.as_str());
        walk::walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if let Expression::StringLiteral(name) = &it.expression {
            self.note_last_match(&it.object, name.value.as_str());
        }
        walk::walk_computed_member_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.refuse_at(it.span.start, "`import.meta` is not allowed", "Leave it out: the code has no address.");
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.awaits(it.span.start);
        self.visit_expression(&it.argument);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        let asks = it.operator == UnaryOperator::Typeof && matches!(it.argument, Expression::Identifier(_));
        let outside = std::mem::replace(&mut self.asks_type, asks);
        walk::walk_unary_expression(self, it);
        self.asks_type = outside;
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.guarded_if(it);
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.guarded_choice(it);
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.guarded_chain(it);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        self.looks_generic |= generic::is_generic(it, self.source);
        walk::walk_binary_expression(self, it);
    }

    fn visit_sequence_expression(&mut self, it: &SequenceExpression<'a>) {
        self.looks_generic |= generic::is_generic_list(it.expressions.iter().map(Some));
        walk::walk_sequence_expression(self, it);
    }

    fn visit_arguments(&mut self, it: &oxc_allocator::ArenaVec<'a, Argument<'a>>) {
        self.looks_generic |= generic::is_generic_list(it.iter().map(Argument::as_expression));
        walk::walk_arguments(self, it);
    }

    fn visit_array_expression(&mut self, it: &ArrayExpression<'a>) {
        self.looks_generic |= generic::is_generic_list(it.elements.iter().map(ArrayExpressionElement::as_expression));
        walk::walk_array_expression(self, it);
    }

    // Types.

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.this_parameter(it);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.blank_behind(&it.expression, it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.blank_behind(&it.expression, it.span);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.blank_behind(&it.expression, it.span);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.blank_behind(&it.expression, it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.type_assertion(it);
    }

    fn visit_ts_index_signature(&mut self, it: &TSIndexSignature<'a>) {
        self.blank_item(it.span);
    }
}

/// Whether an expression is a name of the global object.
fn is_global(object: &Expression<'_>) -> bool {
    matches!(object, Expression::Identifier(it) if matches!(it.name.as_str(), "globalThis" | "window" | "self" | "global"))
}

impl<'a> Rewriter<'a, '_> {
    /// `import(x)` asks the host. What is plainly not allowed is refused here, before anything runs.
    fn import_expression(&mut self, it: &ImportExpression<'a>) {
        if it.phase.is_some() {
            self.refuse_at(it.span.start, "`import.source` and `import.defer` are not supported", "Use `import(…)`.");
            return;
        }
        let literal = match it.source.get_inner_expression() {
            Expression::StringLiteral(text) => Some(text.value.as_str()),
            Expression::TemplateLiteral(text) => text.single_quasi().map(|quasi| quasi.as_str()),
            _ => None,
        };
        let given = literal.filter(|module| self.imports_node(module));
        self.edits.replace(
            it.span.start,
            it.span.start + 6,
            if given.is_some() { "__cove_b" } else { "__cove_import" },
        );
        if let Some(module) = given {
            self.module.node_imports.push(module.to_owned());
        } else if let Some(module) = literal.filter(|_| !self.is_body()) {
            // In a body it is refused when it runs: many programs only try.
            self.check_import(module, it.source.span().start);
        }
        self.visit_expression(&it.source);
        it.options.iter().for_each(|options| self.visit_expression(options));
    }

    /// Refuses a module that the policy does not list.
    pub(crate) fn check_import(&mut self, module: &str, offset: u32) {
        let Some(policy) = self.options.imports.filter(|policy| !policy.allows(module)) else { return };
        let mut finding = Finding::new(FaultKind::ImportNotAllowed, offset, policy.refusal(module));
        finding.module = Some(module.to_owned());
        self.refuse(finding);
    }
}
