//! The properties of `run_javascript`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_artifacts::StoreLimits;
use cove_core::{RunRequest, ToolErrorCode};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::draw::{json_value, message, name, sum};
use super::{Suite, ensure, plain};
use crate::PictureStore;

impl Suite {
    /// Property 1: code computes what it says, `input` arrives whole, and the result is JSON.
    pub fn property_01_result_consistency(&self) {
        self.hold("property 1 (arithmetic)", &(sum(), any::<i16>(), any::<i16>()), |(sum, a, b)| {
            let mut request = self.request(format!("return {};", sum.text()));
            request.input = Some(json!({ "a": a, "b": b }));
            let answer = self.run(request).answer();
            ensure(answer.as_f64() == Some(sum.value(a, b)), || format!("{answer} for {}", sum.text()))
        });
        self.hold("property 1 (input)", &json_value(), |input| {
            let request = RunRequest { input: Some(input.clone()), ..self.request("return input") };
            let answer = self.run(request);
            ensure(plain(&answer) == Some(&input), || format!("{answer:?} for {input}"))
        });
    }

    /// Property 2: a promise is awaited.
    pub fn property_02_promises(&self) {
        const FORMS: &[&str] = &[
            "return Promise.resolve(input)",
            "return await Promise.resolve(input)",
            "return new Promise(done => setTimeout(() => done(input), 1))",
            "return (async () => { await null; return input })()",
            "const [value] = await Promise.all([input, 1]); return value",
            "return Promise.reject(new Error('x')).catch(() => input)",
            "return new Promise(done => queueMicrotask(() => done(Promise.resolve(input))))",
        ];
        self.hold("property 2", &(0..FORMS.len(), json_value()), |(form, value)| {
            // A thenable is awaited too, which is not what this property is about.
            prop_assume!(value.get("then").is_none());
            let request = RunRequest { input: Some(value.clone()), ..self.request(FORMS[form]) };
            let answer = self.run(request);
            ensure(plain(&answer) == Some(&value), || format!("{answer:?} for {} of {value}", FORMS[form]))
        });
    }

    /// Property 3: what runs longer than its time is ended, and the answer comes within a second after.
    pub fn property_03_timeout(&self) {
        const FORMS: &[&str] = &[
            "while (true) {}",
            "for (;;) { try { for (;;) {} } catch {} finally { } }",
            "for (;;) await 0",
            "const spin = () => Promise.resolve().then(spin); return spin()",
            "return new Promise(done => setTimeout(done, 1e8))",
            "return { toJSON() { for (;;) {} } }",
            "return { get x() { while (true) {} } }",
            "setTimeout(() => { while (true) {} }, 0); await new Promise(done => setTimeout(done, 1e8))",
            "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        ];
        self.hold("property 3", &(0..FORMS.len(), 15u64..60), |(form, timeout_ms)| {
            let started = Instant::now();
            let request = RunRequest { timeout_ms, ..self.request(FORMS[form]) };
            let report = self.run(request);
            let (answer, took) = (report.answer(), started.elapsed());
            ensure(answer["error"] == "execution_timeout" && answer["timeoutMs"] == timeout_ms, || {
                format!("{answer} for {}", FORMS[form])
            })?;
            let ran_ms = report.usage.wall_ms;
            ensure(ran_ms < timeout_ms as f64 + 1000.0, || format!("answered after {ran_ms} ms"))?;
            // The page or process is made ready outside the run's own clock; a loaded machine may take its time there.
            ensure(took < Duration::from_millis(timeout_ms) + Duration::from_secs(10), || {
                format!("answered after {took:?}")
            })
        });
    }

    /// Property 4: whatever is thrown comes back as an error with its message and its line.
    pub fn property_04_errors(&self) {
        const FORMS: &[(&str, &str)] = &[
            ("throw new Error(M)", "Error: "),
            ("throw new TypeError(M)", "TypeError: "),
            ("class Own extends Error { constructor(m) { super(m); this.name = 'Own' } } throw new Own(M)", "Own: "),
            ("await Promise.reject(new RangeError(M))", "RangeError: "),
            ("return (async () => { throw new Error(M) })()", "Error: "),
            ("throw M", ""),
            ("throw { message: M }", ""),
            ("[1].map(() => { throw new SyntaxError(M) })", "SyntaxError: "),
            ("await new Promise((_, fail) => setTimeout(() => fail(new Error(M)), 0))", "Error: "),
        ];
        self.hold("property 4", &(0..FORMS.len(), message(), 0u64..4), |(form, text, lines)| {
            let (code, kind) = FORMS[form];
            let code = format!("{}{}", "\n".repeat(lines as usize), code.replace('M', &json!(text).to_string()));
            let answer = self.run(self.request(code)).answer();
            let said = answer["message"].as_str().unwrap_or_default();
            ensure(answer["error"] == "js_execution_failed" && said.contains(&format!("{kind}{text}")), || {
                format!("{answer} for {:?}", FORMS[form])
            })?;
            let thrown_error = !kind.is_empty();
            ensure(!thrown_error || answer["line"] == lines + 1, || {
                format!("{answer} should point at line {}", lines + 1)
            })
        });
    }

    /// Property 5 of the browser's design, 1 of the canvas's: a canvas has the size it was asked for, and so has its PNG.
    pub fn property_05_canvas_size(&self) {
        self.with_store(|pictures| {
            self.hold("property 5", &(1u32..300, 1u32..300), |(width, height)| {
                let code = format!("const c = getCanvas({width}, {height}); return [c.width, c.height]");
                let (answer, png) = self.draw(pictures, code)?;
                ensure(answer == json!([width, height]), || format!("{answer}"))?;
                ensure(png_size(&png) == Some((width, height)), || format!("the PNG has {:?}", png_size(&png)))
            });
        });
    }

    /// Property 6 (2 of the canvas's): every call gives the same canvas; the first one decides its size.
    pub fn property_06_canvas_singleton(&self) {
        let sizes = proptest::collection::vec((1u32..200, 1u32..200), 1..6);
        self.with_store(|pictures| {
            self.hold("property 6", &sizes, |sizes| {
                let calls: Vec<String> = sizes.iter().map(|(w, h)| format!("getCanvas({w}, {h})")).collect();
                let code = format!(
                    "const all = [{}]; return [all.every(c => c === all[0]), all[0].width, all[0].height]",
                    calls.join(", ")
                );
                let (answer, _) = self.draw(pictures, code)?;
                ensure(answer == json!([true, sizes[0].0, sizes[0].1]), || format!("{answer}"))
            });
        });
    }

    /// Property 7 (3 and 5 of the canvas's): drawing leaves one PNG with its metadata; not drawing leaves nothing.
    pub fn property_07_canvas_export(&self) {
        let shapes = proptest::collection::vec((0u8..5, 0u8..=255, 0u8..=255, 0u8..=255), 0..6);
        self.with_store(|pictures| {
            self.hold("property 7", &(any::<bool>(), 8u32..120, 8u32..120, shapes), |(uses, width, height, shapes)| {
                if !uses {
                    let answer = self
                        .runtime
                        .block_on(self.runner(Some(pictures.clone())).run(self.request("return typeof getCanvas")));
                    return ensure(plain(&answer) == Some(&json!("function")), || format!("{answer:?}"));
                }
                let mut code = format!("const ctx = getCanvas({width}, {height}).getContext('2d');\n");
                for (kind, r, g, b) in shapes {
                    code.push_str(&format!("ctx.fillStyle = ctx.strokeStyle = 'rgb({r}, {g}, {b})';\n"));
                    code.push_str(match kind {
                        0 => "ctx.fillRect(2, 2, 30, 20);\n",
                        1 => "ctx.beginPath(); ctx.arc(20, 20, 10, 0, Math.PI * 2); ctx.fill();\n",
                        2 => "ctx.font = '16px Arial'; ctx.fillText('Cove', 4, 20);\n",
                        3 => {
                            "ctx.lineWidth = 3; ctx.beginPath(); ctx.moveTo(0, 0); ctx.lineTo(40, 30); ctx.stroke();\n"
                        }
                        _ => "ctx.strokeRect(1, 1, 20, 20);\n",
                    });
                }
                let (_, png) = self.draw(pictures, code)?;
                ensure(png_size(&png) == Some((width, height)), || format!("the PNG has {:?}", png_size(&png)))
            });
        });
    }

    /// Property 8: nothing is refused because of how it reads; what is dangerous finds nothing to harm.
    pub fn property_08_sandbox(&self) {
        const WORDS: &[&str] = &[
            "require('fs')",
            "process.exit()",
            "import('fs')",
            "eval('1')",
            "<!--",
            "child_process",
            "while(true){}",
            "__proto__",
        ];
        self.hold("property 8", &(0..WORDS.len(), message()), |(word, text)| {
            let said = format!("{} {text}", WORDS[word]);
            let code = format!("// {said}\nreturn {}; /* {said} */", json!(said));
            let answer = self.run(self.request(code));
            ensure(plain(&answer) == Some(&json!(said)), || format!("{answer:?}"))
        });
        const REACHES: &[&str] =
            &["require", "process", "Deno", "Bun", "module", "__dirname", "global", "Buffer", "std", "os"];
        self.hold("property 8 (reach)", &(0..REACHES.len()), |reach| {
            let answer = self.run(self.request(format!("return typeof {}", REACHES[reach])));
            ensure(plain(&answer) == Some(&json!("undefined")), || format!("{answer:?} for {}", REACHES[reach]))
        });
    }

    /// Property 9: nothing that one run leaves can be seen by the next.
    pub fn property_09_isolation(&self) {
        const LEAVES: &[&str] = &[
            "globalThis.NAME = 1",
            "this.NAME = 1; var NAME = 2",
            "try { Object.prototype.NAME = 1 } catch {}",
            "try { Array.prototype.NAME = 1 } catch {}",
            "try { Math.NAME = 1 } catch {}",
            "try { console.NAME = 1 } catch {}",
            "setInterval(() => { globalThis.NAME = 1 }, 1)",
            "(0, eval)('var NAME = 1')",
            "globalThis.localStorage?.setItem('NAME', '1'); if (globalThis.document) document.cookie = 'NAME=1'",
        ];
        const LOOKS: &str = "return [typeof NAME, typeof globalThis.NAME, typeof ({}).NAME, typeof [].NAME, typeof Math.NAME, \
                             typeof console.NAME, globalThis.localStorage?.getItem('NAME') ?? null, \
                             (globalThis.document?.cookie ?? '').includes('NAME')]";
        self.hold("property 9", &(0..LEAVES.len(), name()), |(leave, name)| {
            self.run(self.request(format!("try {{ {} }} catch {{}} return 1", LEAVES[leave].replace("NAME", &name))));
            let answer = self.run(self.request(LOOKS.replace("NAME", &name)));
            let clean =
                json!(["undefined", "undefined", "undefined", "undefined", "undefined", "undefined", null, false]);
            ensure(plain(&answer) == Some(&clean), || format!("{answer:?} after {}", LEAVES[leave]))
        });
    }

    /// Property 10: one instance serves all runs; `instance` says which one is there.
    pub fn property_10_reuse(&self, instance: impl Fn() -> u64) {
        self.run(self.request("return 1"));
        let before = instance();
        self.hold("property 10", &any::<i16>(), |number| {
            let answer = self.run(self.request(format!("return {number}")));
            ensure(plain(&answer) == Some(&json!(number)), || format!("{answer:?}"))?;
            ensure(instance() == before, || format!("instance {} became {}", before, instance()))
        });
    }

    /// The value rules: what has no JSON form becomes `null` or an error, as the contract lists them.
    pub fn values_become_json(&self) {
        let check = |code: &str, expected: Value| {
            let answer = self.run(self.request(code)).answer();
            assert_eq!(answer, expected, "{code}");
        };
        check("", json!(null));
        check("return undefined", json!(null));
        check("return () => 1", json!(null));
        check("return Symbol('x')", json!(null));
        check("return [undefined, () => 1, NaN, Infinity, -0]", json!([null, null, null, null, 0]));
        check("return { a: undefined, b: 1 }", json!({ "b": 1 }));
        check("return new Date(0)", json!("1970-01-01T00:00:00.000Z"));
        check("return { toJSON: () => 7 }", json!(7));
        check("return new Map([[1, 2]])", json!({}));
        check("return 'ä\\u2028€'", json!("ä\u{2028}€"));
        check("return input", json!(null));
        check("const x: number = 1; interface A { a: string } return x as number", json!(1));
        let fails = |code: &str, error: ToolErrorCode| {
            let answer = self.run(self.request(code)).answer();
            assert_eq!(answer["error"], error.as_str(), "{code}: {answer}");
            assert!(!answer["message"].as_str().unwrap_or_default().is_empty(), "{code}: {answer}");
        };
        fails("const a = {}; a.a = a; return a", ToolErrorCode::NonJsonSerializableReturn);
        fails("return 1n", ToolErrorCode::NonJsonSerializableReturn);
        fails("return [{ b: 2n }]", ToolErrorCode::NonJsonSerializableReturn);
        fails("return { toJSON() { throw new Error('no') } }", ToolErrorCode::NonJsonSerializableReturn);
        fails("return 'x'.repeat(200001)", ToolErrorCode::ResultTooLarge);
        fails("return (", ToolErrorCode::JsExecutionFailed);
        fails("nowhere.x", ToolErrorCode::JsExecutionFailed);
        fails(&"1;".repeat(25_001), ToolErrorCode::CodeTooLarge);
    }

    pub(super) fn with_store(&self, test: impl FnOnce(&Arc<PictureStore>)) {
        /// Gone at the end, however it comes.
        struct Folder(std::path::PathBuf);
        impl Drop for Folder {
            fn drop(&mut self) {
                let _ = std::fs::remove_dir_all(&self.0);
            }
        }
        // A process's number alone is not its own: other namespaces count anew, and one process may run many tests.
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let name = format!("cove-suite-{}-{}-{}", self.engine.name(), std::process::id(), since.as_nanos());
        let folder = Folder(std::env::temp_dir().join(name));
        test(&Arc::new(PictureStore::at(&folder.0, StoreLimits::default())));
    }

    /// Runs code that draws; gives its value and the one picture, after checking the metadata beside it.
    pub(super) fn draw(&self, pictures: &Arc<PictureStore>, code: String) -> Result<(Value, Vec<u8>), TestCaseError> {
        let mut request = self.request(code);
        request.message_id = Some("m-1".to_owned());
        let answer = self.runtime.block_on(self.runner(Some(pictures.clone())).run(request));
        let finished = answer.result.map_err(|fault| TestCaseError::fail(format!("no picture: {fault:?}")))?;
        let [image] = &finished.images[..] else {
            return Err(TestCaseError::fail(format!("not one picture: {finished:?}")));
        };
        let (name, result) = (image.file_name.as_str(), finished.value);
        let id = name.strip_suffix(".png").and_then(|stem| stem.parse().ok());
        let id = id.ok_or_else(|| TestCaseError::fail(format!("{name} is not <uuid>.png")))?;
        let fail = |error: &dyn std::fmt::Display| TestCaseError::fail(error.to_string());
        let store = pictures.store().map_err(|error| fail(&error))?;
        let png = store.read(id).map_err(|error| fail(&error))?.bytes;
        let meta = store.meta(id).map_err(|error| fail(&error))?;
        let meta = serde_json::to_value(meta).map_err(|error| fail(&error))?;
        let size = png_size(&png).unwrap_or_default();
        let source = if self.engine.name() == cove_core::EngineName::Browser { "browser-canvas" } else { "canvas" };
        let described = meta["id"] == name.trim_end_matches(".png")
            && (meta["type"] == "image" && meta["extension"] == ".png" && meta["source"] == source)
            && (meta["width"] == size.0 && meta["height"] == size.1)
            && (image.width, image.height) == size
            && (meta["messageId"] == "m-1" && meta["agentId"].is_null());
        ensure(described, || format!("metadata {meta} for {size:?}"))?;
        store.delete(id).map_err(|error| fail(&error))?;
        Ok((result, png))
    }
}

pub(super) fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    let header = png.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| (sum << 8) | u32::from(*byte));
    Some((number(&header[..4]), number(&header[4..])))
}
