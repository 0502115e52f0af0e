//! Any text, in any mode: a result that is JavaScript and keeps its lines, or a refusal with a place.
#![no_main]

use cove_script::{ColumnUnit, MAX_SOURCE_BYTES, Mode, PrepareOptions, is_complete, prepare};
use libfuzzer_sys::fuzz_target;
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let source = String::from_utf8_lossy(rest);
    let mode = [Mode::Cell, Mode::FunctionBody, Mode::Dynamic, Mode::Module][usize::from(first % 4)];
    let options = PrepareOptions { guards: first & 4 == 0, ..PrepareOptions::new(mode) };
    match prepare(&source, &options) {
        Ok(prepared) => {
            let arena = Allocator::default();
            let kind = SourceType::cjs().with_script(true).with_jsx(false);
            let parsed = Parser::new(&arena, &prepared.code, kind).parse();
            assert!(parsed.diagnostics.is_empty(), "{:?}\n{source}\n-----\n{}", parsed.diagnostics, prepared.code);
            for (line, text) in (1..).zip(prepared.code.split('\n').take(50)) {
                for column in 1..=text.len().min(200) {
                    let _ = prepared.locate(line, column as u32, ColumnUnit::Bytes);
                }
            }
        }
        Err(refusal) => {
            assert!(!refusal.message.contains("could not be prepared"), "{}\n{source}", refusal.message);
            assert!(refusal.position.is_some() || source.len() > MAX_SOURCE_BYTES);
            assert!(refusal.frame.is_none_or(|frame| frame.len() < 4_000));
        }
    }
    let _ = is_complete(&source);
});
