//! The executor's ten normative cases, each drawn a hundred times, and the smoke test.

use std::sync::Arc;

use cove_core::{
    CodeOutput, ErrorCode, ExecutorError, ExecutorOptions, ExecutorState, RunConcurrency, ToolError, ToolSet, ToolSpec,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::draw::{json_value, message, name};
use super::{Suite, ensure};
use crate::CodeExecutor;

type Ran = Result<CodeOutput, ExecutorError>;

impl Suite {
    fn executor(&self, options: ExecutorOptions) -> Arc<CodeExecutor> {
        let executor = CodeExecutor::new(self.engine.clone(), options);
        Arc::new(executor.unwrap_or_else(|error| panic!("no executor: {error}")))
    }

    fn ready(&self, options: ExecutorOptions) -> Arc<CodeExecutor> {
        let executor = self.executor(options);
        if let Err(error) = self.runtime.block_on(executor.init()) {
            panic!("init: {error}");
        }
        executor
    }

    fn cell(&self, executor: &CodeExecutor, code: impl Into<String>) -> Ran {
        self.runtime.block_on(executor.run(code))
    }

    fn gives(&self, executor: &CodeExecutor, code: impl Into<String>, expected: &Value) -> Result<(), TestCaseError> {
        let code = code.into();
        let ran = self.cell(executor, code.clone());
        ensure(ran.as_ref().is_ok_and(|output| output.output == *expected), || {
            format!("{ran:?} instead of {expected} for {code}")
        })
    }

    fn fails(&self, executor: &CodeExecutor, code: &str, expected: ErrorCode) -> Result<ExecutorError, TestCaseError> {
        let ran = self.cell(executor, code);
        match ran {
            Err(error) if error.code == expected => Ok(error),
            other => Err(TestCaseError::fail(format!("{other:?} instead of {expected} for {code}"))),
        }
    }

    fn tools(&self, executor: &CodeExecutor, tools: Vec<ToolSpec>) {
        let tools = ToolSet::new(tools).unwrap_or_else(|error| panic!("{error}"));
        if let Err(error) = self.runtime.block_on(executor.send_tools(tools)) {
            panic!("send_tools: {error}");
        }
    }

    fn is_ready(&self, executor: &CodeExecutor) -> Result<(), TestCaseError> {
        ensure(executor.state() == ExecutorState::Ready, || format!("state {}", executor.state()))
    }

    /// CF-01: the life of an executor, round after round; wrong calls are refused and change nothing.
    pub fn cf_01_lifecycle(&self) {
        let executor = self.executor(ExecutorOptions::default());
        self.hold("CF-01", &(name(), json_value()), |(name, value)| {
            self.runtime.block_on(async {
                let refused = executor.run("1").await;
                ensure(refused.is_err_and(|error| error.code == ErrorCode::InvalidState), || {
                    "run before init".to_owned()
                })?;
                for _ in 0..2 {
                    executor.init().await.map_err(|error| TestCaseError::fail(error.message))?;
                }
                let variables = [(name.clone(), value.clone())].into_iter().collect();
                executor.send_variables(variables).await.map_err(|error| TestCaseError::fail(error.message))?;
                let output = executor.run(name.clone()).await.map_err(|error| TestCaseError::fail(error.message))?;
                ensure(output.output == value && !output.is_final_answer, || format!("{output:?}"))?;
                for _ in 0..2 {
                    executor.cleanup().await.map_err(|error| TestCaseError::fail(error.message))?;
                }
                ensure(executor.state() == ExecutorState::Dead, || executor.state().to_string())
            })
        });
    }

    /// CF-02: in `reject` mode a second run is refused while the first goes on, and the first is unharmed.
    pub fn cf_02_concurrent_run_is_rejected(&self) {
        let executor = self.ready(ExecutorOptions::default());
        let gate = self.gate(&executor);
        self.hold("CF-02", &(any::<i32>(), 1usize..4), |(value, others)| {
            self.runtime.block_on(async {
                let first = spawn(&executor, format!("await hold(); {value}"));
                gate.entered.notified().await;
                for _ in 0..others {
                    let second = executor.run("2").await;
                    ensure(second.as_ref().is_err_and(|error| error.code == ErrorCode::InvalidState), || {
                        format!("{second:?}")
                    })?;
                }
                gate.open.notify_one();
                let first = joined(first).await?;
                ensure(first.is_ok_and(|output| output.output == json!(value)), || {
                    "the first run was harmed".to_owned()
                })
            })
        });
    }

    /// CF-03: in `queue` mode runs happen in the order in which they came.
    pub fn cf_03_queue_is_fifo(&self) {
        let options = ExecutorOptions { run_concurrency: RunConcurrency::Queue, ..Default::default() };
        let executor = self.ready(options);
        let gate = self.gate(&executor);
        self.hold("CF-03", &(2usize..8), |count| {
            self.runtime.block_on(async {
                let first = spawn(&executor, "var order = []; await hold(); order".to_owned());
                gate.entered.notified().await;
                let mut waiting = Vec::new();
                for index in 0..count {
                    let mut run = Box::pin(executor.run(format!("order.push({index}); order")));
                    // One poll puts it in the queue.
                    ensure(poll_once(&mut run).await.is_none(), || "a queued run did not wait".to_owned())?;
                    waiting.push(run);
                }
                gate.open.notify_one();
                joined(first).await?.map_err(|error| TestCaseError::fail(error.message))?;
                // Awaited in reverse: the order must be theirs, not ours. All are driven together.
                let tasks = all(waiting).await;
                for (index, ran) in tasks.into_iter().enumerate() {
                    let expected = Value::from((0..=index).collect::<Vec<_>>());
                    ensure(ran.as_ref().is_ok_and(|output| output.output == expected), || {
                        format!("{ran:?} instead of {expected}")
                    })?;
                }
                Ok(())
            })
        });
    }

    /// CF-04: more runs than may wait are refused, those that wait are not.
    pub fn cf_04_queue_overflow(&self) {
        self.hold("CF-04", &(1u32..6), |max_queued_runs| {
            let options =
                ExecutorOptions { run_concurrency: RunConcurrency::Queue, max_queued_runs, ..Default::default() };
            let executor = self.ready(options);
            let gate = self.gate(&executor);
            self.runtime.block_on(async {
                let first = spawn(&executor, "await hold(); 1".to_owned());
                gate.entered.notified().await;
                let mut waiting = Vec::new();
                for index in 0..max_queued_runs {
                    let mut run = Box::pin(executor.run(index.to_string()));
                    ensure(poll_once(&mut run).await.is_none(), || "a queued run did not wait".to_owned())?;
                    waiting.push(run);
                }
                let over = executor.run("0").await;
                ensure(over.as_ref().is_err_and(|error| error.code == ErrorCode::InvalidState), || {
                    format!("{over:?}")
                })?;
                gate.open.notify_one();
                joined(first).await?.map_err(|error| TestCaseError::fail(error.message))?;
                let ran = all(waiting).await;
                ensure(ran.iter().all(Result::is_ok), || format!("{ran:?}"))?;
                executor.cleanup().await.map_err(|error| TestCaseError::fail(error.message))
            })
        });
    }

    /// CF-05: a static import is refused even when its module is on the list, and nothing of the cell has run.
    pub fn cf_05_static_import(&self) {
        let executor = self.ready(with_module("listed", "export const answer = 42"));
        self.hold("CF-05", &(0..4usize, any::<i32>()), |(form, mark)| {
            let import = [
                "import x from 'listed'",
                "import { answer } from 'listed'",
                "import * as all from \"listed\"",
                "import 'listed'",
            ][form];
            self.gives(&executor, format!("var mark = {mark}; mark"), &json!(mark))?;
            self.fails(&executor, &format!("mark = null;\n{import};\nmark = 7"), ErrorCode::AstLintViolation)?;
            self.is_ready(&executor)?;
            self.gives(&executor, "mark", &json!(mark))
        });
    }

    /// CF-06: a listed module can be imported dynamically, another cannot.
    pub fn cf_06_dynamic_import(&self) {
        let executor = self.ready(with_module("listed", "export const answer = 42; export default x => x + 1"));
        self.hold("CF-06", &("[a-z]{1,8}", -1000i32..1000), |(other, number)| {
            prop_assume!(other != "listed");
            let code = format!("const m = await import('listed'); [m.answer, m.default({number})]");
            self.gives(&executor, code, &json!([42, number + 1]))?;
            for code in [format!("await import('{other}')"), format!("const n = '{other}'; await import(n + '')")] {
                let error = self.fails(&executor, &code, ErrorCode::ImportNotAllowed)?;
                ensure(error.message.starts_with(&format!("Import not allowed: {other}")), || error.message.clone())?;
                ensure(error.message.contains("listed"), || format!("no list in {:?}", error.message))?;
            }
            self.is_ready(&executor)
        });
    }

    /// Modules of several files: names beside the one that asks, circles, and one failure for all who wait for it.
    pub fn modules_find_one_another(&self) {
        let executor = self.ready(with_modules(&[
            ("lib", "import { two } from './lib/two.js'; export const three = two + 1; export * from './lib/deep/four.js'"),
            ("lib/two.js", "import one from './one.js'; export const two = one + 1"),
            ("lib/one.js", "export default 1"),
            ("lib/deep/four.js", "import { two } from '../two.js'; export const four = two * 2; export const later = n => import(`../${n}`)"),
            ("lib/even.js", "import { odd } from './odd.js'; export const even = n => n === 0 || odd(n - 1)"),
            ("lib/odd.js", "import { even } from '../lib/even.js'; export const odd = n => n !== 0 && even(n - 1)"),
            ("lib/cjs.js", "exports.five = require('./deep/four.js').four + 1"),
            ("lib/astray.js", "import '../../other/./gone.js'"),
            ("lib/broken.js", "globalThis.tries = (globalThis.tries ?? 0) + 1; throw new TypeError('at its start')"),
            ("lib/loops.js", "let n = 0; while (n < 200000) n++; export default n"),
        ]));
        for (code, expected) in [
            (
                "const lib = await import('lib'); [lib.three, lib.four, Object.prototype.toString.call(lib)]",
                json!([3, 4, "[object Module]"]),
            ),
            ("(await lib.later('one.js')).default", json!(1)),
            ("(await import('lib/two.js')) === (await lib.later('./two.js'))", json!(true)),
            ("const { even } = await import('lib/even.js'); [even(10), even(7)]", json!([true, false])),
            ("(await import('lib/cjs.js')).five", json!(5)),
            (
                "const all = await Promise.all(['odd', 'even', 'two'].map(n => import(`lib/${n}.js`))); all.length",
                json!(3),
            ),
            (
                "const say = e => e.message; [await import('lib/broken.js').catch(say), await import('lib/broken.js').catch(say), tries]",
                json!(["at its start", "at its start", 1]),
            ),
            // A library may loop where a cell should not.
            ("(await import('lib/loops.js')).default", json!(200_000)),
            // Not waited for: the next cell must not wait for it either.
            ("import('lib/one.js'); import('lib/two.js'); 'gone'", json!("gone")),
            ("(await import('lib/two.js')).two", json!(2)),
        ] {
            self.gives(&executor, code, &expected).unwrap_or_else(|error| panic!("{error}"));
        }
        for (code, expected, part) in [
            ("await import('./lib')", ErrorCode::ImportNotAllowed, "Import not allowed: ./lib"),
            ("await import('lib/astray.js')", ErrorCode::ImportNotAllowed, "Import not allowed: other/gone.js"),
            ("await lib.later('gone.js')", ErrorCode::RuntimeException, "Cannot find module lib/gone.js"),
        ] {
            let error = self.fails(&executor, code, expected).unwrap_or_else(|error| panic!("{error}"));
            assert!(error.message.contains(part), "{code}: {}", error.message);
        }
        self.gives(&executor, "lib.three", &json!(3)).unwrap_or_else(|error| panic!("{error}"));
    }

    /// CF-07: a tool that fails is an error that user code may catch; uncaught it is `ERR_TOOL_PROXY_FAIL`.
    pub fn cf_07_failing_tool(&self) {
        let executor = self.ready(ExecutorOptions::default());
        let tool = ToolSpec::new("broken", |call| async move {
            Err(ToolError::new(call.args.first().and_then(Value::as_str).unwrap_or_default()))
        });
        self.tools(&executor, vec![tool]);
        self.hold("CF-07", &(message(), any::<i16>()), |(cause, keep)| {
            let call = format!("await broken({})", json!(cause));
            let error = self.fails(&executor, &format!("var keep = {keep}; {call}"), ErrorCode::ToolProxyFail)?;
            ensure(error.message == format!("Tool execution failed: {cause}"), || error.message.clone())?;
            self.is_ready(&executor)?;
            let caught = format!("let said; try {{ {call} }} catch (e) {{ said = e.message }} [keep, said]");
            self.gives(&executor, caught, &json!([keep, format!("Tool execution failed: {cause}")]))
        });
    }

    /// CF-08: `throw` is a runtime exception; logs so far and state are kept.
    pub fn cf_08_throw(&self) {
        let executor = self.ready(ExecutorOptions::default());
        self.hold("CF-08", &(message(), any::<i16>()), |(text, keep)| {
            let text_json = json!(text);
            let code = format!("var keep = {keep}; console.log('so far', keep);\nthrow new TypeError({text_json})");
            let error = self.fails(&executor, &code, ErrorCode::RuntimeException)?;
            ensure(error.message.starts_with(&format!("TypeError: {text}")), || error.message.clone())?;
            ensure(error.logs == format!("so far {keep}"), || error.logs.clone())?;
            let line = error.details.as_ref().map(|details| details["line"].clone());
            ensure(line == Some(json!(2)), || format!("{:?}", error.details))?;
            self.is_ready(&executor)?;
            self.gives(&executor, "keep", &json!(keep))
        });
    }

    /// CF-09: an endless loop ends by its step counter, told by its code; user code cannot catch it or forge it.
    pub fn cf_09_max_operations(&self) {
        const LOOPS: &[&str] = &[
            "while (true) {}",
            "for (;;);",
            "do {} while (true)",
            "for (const x of (function* () { for (;;) yield 1 })()) {}",
            "for (;;) { try { while (1) {} } catch (e) {} }",
            "const f = () => { while (true) ; }; f()",
            "await (async () => { for (;;) await null })()",
            "try { while (true) {} } catch (e) { keep = 'caught' } keep = 'after'",
            "(async () => { while (true) {} })().catch(() => { keep = 'caught' }); while (true) {}",
        ];
        let options = ExecutorOptions { max_operations: 500, ..Default::default() };
        let executor = self.ready(options);
        self.hold("CF-09", &(0..LOOPS.len(), any::<i16>()), |(form, keep)| {
            self.gives(&executor, format!("var keep = {keep}; keep"), &json!(keep))?;
            let error = self.fails(&executor, LOOPS[form], ErrorCode::MaxOpsExceeded)?;
            ensure(error.message == "Max operations exceeded (500)", || error.message.clone())?;
            self.is_ready(&executor)?;
            self.gives(&executor, "keep", &json!(keep))?;
            self.fails(&executor, "throw new Error('Max operations exceeded (500)')", ErrorCode::RuntimeException)?;
            Ok(())
        });
    }

    /// CF-10: a timeout makes the executor dirty; cleaned up and begun anew it works.
    pub fn cf_10_timeout_and_recovery(&self) {
        self.hold("CF-10", &(5u64..30, any::<i16>()), |(timeout_ms, value)| {
            let options = ExecutorOptions { timeout_ms, max_operations: 1 << 50, ..Default::default() };
            let executor = self.ready(options);
            let error = self.fails(&executor, "console.log('begun'); while (true) {}", ErrorCode::ExecTimeout)?;
            ensure(error.message == format!("Agent execution timed out after {timeout_ms}ms"), || {
                error.message.clone()
            })?;
            ensure(executor.state() == ExecutorState::Dirty, || executor.state().to_string())?;
            self.fails(&executor, "1", ErrorCode::InvalidState)?;
            self.runtime.block_on(async {
                executor.cleanup().await.map_err(|error| TestCaseError::fail(error.message))?;
                ensure(executor.state() == ExecutorState::Dead, || executor.state().to_string())?;
                executor.init().await.map_err(|error| TestCaseError::fail(error.message))
            })?;
            // A machine under load may need longer than the deadline even for this; then it says so, and nothing else.
            match self.cell(&executor, format!("{value}")) {
                Ok(output) => ensure(output.output == json!(value), || format!("{output:?}"))?,
                Err(error) => ensure(error.code == ErrorCode::ExecTimeout, || format!("{error:?}"))?,
            }
            self.runtime.block_on(executor.cleanup()).map_err(|error| TestCaseError::fail(error.message))
        });
    }

    /// `final_answer` wins over every `catch`, runs `finally`, and the first one counts.
    pub fn final_answer_cannot_be_swallowed(&self) {
        const FORMS: &[&str] = &[
            "final_answer(V)",
            "try { final_answer(V) } catch (e) { mark = 'caught' }",
            "try { final_answer(V) } catch { mark = 'caught' } finally { seen = true }",
            "final_answer(V); mark = 'after'",
            "[1, 2].forEach(() => final_answer(V)); mark = 'after'",
            "await (async () => { try { await null; final_answer(V) } catch (e) { mark = 'caught' } })(); mark = 'after'",
            "for (const x of [1, 2, 3]) { try { final_answer(V) } catch ({ message }) { mark = message } }",
            "final_answer(V, 'second'); final_answer('third')",
        ];
        let executor = self.ready(ExecutorOptions::default());
        self.hold("final_answer", &(0..FORMS.len(), json_value()), |(form, value)| {
            prop_assume!(value.get("then").is_none());
            let code = FORMS[form].replace('V', &format!("JSON.parse({})", json!(value.to_string())));
            let ran = self.cell(&executor, format!("var mark = 'start', seen = false; {code}"));
            ensure(ran.as_ref().is_ok_and(|output| output.is_final_answer && output.output == value), || {
                format!("{ran:?} for {code}")
            })?;
            self.gives(&executor, "mark", &json!("start"))?;
            self.gives(&executor, "seen", &json!(FORMS[form].contains("finally")))
        });
    }

    /// `return`, `break` and `continue` in `finally` mean what they mean elsewhere.
    pub fn jumps_leave_finally(&self) {
        const FORMS: &[&str] = &[
            "(() => { try { return 1 } finally { return V } })()",
            "(() => { try { throw new Error('x') } finally { return V } })()",
            "(() => { let n = 0; for (const x of [1, 2]) { try { n = V; continue } finally { continue } } return n })()",
            "(() => { let n = V; for (;;) { try { n = V } finally { break } } return n })()",
            "(() => { l: try { throw 1 } finally { break l } return V })()",
            "await (async () => { try { await null; return 1 } finally { return V } })()",
            "[...(function* () { try { yield V } finally { return 2 } })()][0]",
        ];
        let executor = self.ready(ExecutorOptions::default());
        self.hold("jumps in finally", &(0..FORMS.len(), 0..1000i32), |(form, value)| {
            self.gives(&executor, FORMS[form].replace('V', &value.to_string()), &json!(value))
        });
    }

    /// What one cell declares the next one has, and may declare again.
    pub fn declarations_persist(&self) {
        const FORMS: &[&str] = &[
            "let N = V",
            "const N = V",
            "var N = V",
            "const { a: N } = { a: V }",
            "let [, N = 0] = [1, V]",
            "N = V; globalThis.N = N",
        ];
        let executor = self.ready(ExecutorOptions::default());
        self.hold(
            "declarations",
            &(0..FORMS.len(), name(), any::<i16>(), any::<i16>()),
            |(form, name, value, next)| {
                let code = |value: i16| FORMS[form].replace('N', &name).replace('V', &value.to_string());
                let strict_global = FORMS[form].starts_with("N =");
                let declare = if strict_global { format!("var {name}; {}", code(value)) } else { code(value) };
                self.cell(&executor, declare).map_err(|error| TestCaseError::fail(error.message))?;
                self.gives(&executor, name.clone(), &json!(value))?;
                self.cell(&executor, format!("let {name} = {next}"))
                    .map_err(|error| TestCaseError::fail(error.message))?;
                let later = format!(
                    "function get_{name}() {{ return {name} }} class C_{name} {{ v() {{ return get_{name}() }} }}"
                );
                self.cell(&executor, later).map_err(|error| TestCaseError::fail(error.message))?;
                self.gives(&executor, format!("new C_{name}().v()"), &json!(next))
            },
        );
    }

    /// The smoke test that the executor's design demands, step by step.
    pub fn smoke_test(&self) {
        let executor = self.ready(ExecutorOptions { max_operations: 1000, ..Default::default() });
        let read = ToolSpec::new("readTool", |call| async move {
            let path = call.args.first().and_then(Value::as_str).unwrap_or_default();
            Ok(json!(format!("content of {path}")))
        });
        self.tools(&executor, vec![read]);
        let code = "
            const text = await readTool('test.txt');
            final_answer(text + ' was read successfully');
        ";
        let ran = self.cell(&executor, code);
        let expected = json!("content of test.txt was read successfully");
        assert!(ran.as_ref().is_ok_and(|output| output.is_final_answer && output.output == expected), "{ran:?}");
        let ran = self.cell(&executor, "while (true) { let i = 0; }");
        let error = ran.err().map(|error| (error.code, error.message));
        assert_eq!(error, Some((ErrorCode::MaxOpsExceeded, "Max operations exceeded (1000)".to_owned())));
    }

    /// A tool `hold` that says when it was entered and waits until it is let go.
    fn gate(&self, executor: &CodeExecutor) -> Gate {
        let gate = Gate { entered: Arc::new(Notify::new()), open: Arc::new(Notify::new()) };
        let (entered, open) = (gate.entered.clone(), gate.open.clone());
        let tool = ToolSpec::new("hold", move |_| {
            let (entered, open) = (entered.clone(), open.clone());
            async move {
                entered.notify_one();
                open.notified().await;
                Ok(Value::Null)
            }
        });
        self.tools(executor, vec![tool]);
        gate
    }
}

struct Gate {
    entered: Arc<Notify>,
    open: Arc<Notify>,
}

fn with_module(name: &str, source: &str) -> ExecutorOptions {
    ExecutorOptions {
        authorized_imports: vec![name.to_owned()],
        modules: [(name.to_owned(), source.to_owned())].into_iter().collect(),
        ..Default::default()
    }
}

/// Modules of one package, `lib`.
fn with_modules(modules: &[(&str, &str)]) -> ExecutorOptions {
    ExecutorOptions {
        authorized_imports: vec!["lib".to_owned()],
        modules: modules.iter().map(|(name, source)| ((*name).to_owned(), (*source).to_owned())).collect(),
        ..Default::default()
    }
}

fn spawn(executor: &Arc<CodeExecutor>, code: String) -> tokio::task::JoinHandle<Ran> {
    let executor = executor.clone();
    tokio::spawn(async move { executor.run(code).await })
}

async fn joined(task: tokio::task::JoinHandle<Ran>) -> Result<Ran, TestCaseError> {
    task.await.map_err(|error| TestCaseError::fail(error.to_string()))
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut future = std::pin::Pin::new(future);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(value) => std::task::Poll::Ready(Some(value)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

/// Drives all futures together; the results stand in the futures' order.
async fn all<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let mut done: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut pending = false;
        for (future, slot) in futures.iter_mut().zip(&mut done) {
            if slot.is_none() {
                match std::pin::Pin::new(future).poll(context) {
                    std::task::Poll::Ready(value) => *slot = Some(value),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    done.into_iter().flatten().collect()
}
