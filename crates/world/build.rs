//! Compiles the prelude to the engine's own bytecode, once, instead of in every world that is built.
//!
//! Parsing 2,000 lines of JavaScript was half of what a world cost. The engine that compiles here is the one that loads:
//! the same crate in the same version, pinned twice in Cargo.toml. Bytecode is never kept anywhere but in this build's own
//! folder, and the engine refuses that of another version when it reads it.
#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use rquickjs::{Context, Ctx, Runtime, qjs};

/// The one file that is not strict: it holds a `with`.
const SLOPPY: &str = "scope.js";

/// The canvas classes, which come with their own crate.
const CANVAS_API: &str = "../canvas-js/src/prelude.js";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src/prelude");
    println!("cargo::rerun-if-changed=src/late");
    println!("cargo::rerun-if-changed={CANVAS_API}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["src/prelude", "src/late"] {
        for entry in fs::read_dir(folder)? {
            files.push(entry?.path());
        }
    }
    files.sort();
    let mut named: Vec<(PathBuf, String)> = Vec::new();
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file name that is not UTF-8")?.to_owned();
        named.push((path, name));
    }
    named.push((CANVAS_API.into(), "canvas-api.js".to_owned()));
    let context = Context::full(&Runtime::new()?)?;
    let mut table = String::from("const COMPILED: &[(&str, &[u8])] = &[\n");
    for (path, name) in named {
        let bytes = context.with(|ctx| compile(&ctx, &path, &name))?;
        fs::write(out.join(&name).with_extension("bin"), bytes)?;
        let stem = name.strip_suffix(".js").ok_or("something else than JavaScript lies in the prelude")?;
        table += &format!("    (\"{name}\", include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{stem}.bin\"))),\n");
    }
    fs::write(out.join("prelude.rs"), table + "];\n")?;
    Ok(())
}

fn compile(ctx: &Ctx<'_>, path: &Path, name: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let source = CString::new(fs::read(path)?)?;
    let file = CString::new(format!("cove:{name}"))?;
    let strict = if name == SLOPPY { 0 } else { qjs::JS_EVAL_FLAG_STRICT };
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY | strict;
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: both texts end with NUL and outlive the call; the context is live. What comes back is ours to free.
    let compiled = unsafe {
        qjs::JS_Eval(raw, source.as_ptr(), source.as_bytes().len() as qjs::size_t, file.as_ptr(), flags.cast_signed())
    };
    // SAFETY: reads the tag of the value just made.
    if unsafe { qjs::JS_IsException(compiled) } {
        let thrown = ctx.catch();
        let why = thrown.as_exception().and_then(|exception| exception.message()).unwrap_or_default();
        return Err(format!("{}: {why}", path.display()).into());
    }
    let mut length: qjs::size_t = 0;
    // Without the source: nobody is to read it, and every world would hold a copy. Lines and names of files stay.
    let flags = (qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE).cast_signed();
    // SAFETY: the value is compiled code; the bytes that come back belong to the engine until they are freed below.
    let written = unsafe { qjs::JS_WriteObject(raw, &mut length, compiled, flags) };
    if written.is_null() {
        return Err(format!("{}: the bytecode cannot be written", path.display()).into());
    }
    // SAFETY: so many bytes were written there; they are copied before they are freed, and nothing is freed twice.
    let bytes = unsafe {
        let bytes = std::slice::from_raw_parts(written, usize::try_from(length)?).to_vec();
        qjs::js_free(raw, written.cast());
        qjs::JS_FreeValue(raw, compiled);
        bytes
    };
    Ok(bytes)
}
