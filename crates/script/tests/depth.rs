//! Depth and size: whatever nests, and however far, ends in a result or a refusal, on a small stack and soon.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::time::{Duration, Instant};

use cove_core::FaultKind;
use cove_script::{MAX_SOURCE_BYTES, PrepareOptions, is_complete, prepare};

type Make = fn(usize) -> String;

/// Everything in the grammar that can stand inside itself.
#[rustfmt::skip]
const NESTED: &[(&str, Make)] = &[
        ("paren", |n| format!("{}1{}", "(".repeat(n), ")".repeat(n))),
        ("array", |n| format!("{}1{}", "[".repeat(n), "]".repeat(n))),
        ("object", |n| format!("x={}1{}", "{a:".repeat(n), "}".repeat(n))),
        ("block", |n| format!("{}1{}", "{".repeat(n), "}".repeat(n))),
        ("call", |n| format!("{}1{}", "f(".repeat(n), ")".repeat(n))),
        ("calls", |n| format!("f{}", "()".repeat(n))),
        ("index", |n| format!("f{}", "[0]".repeat(n))),
        ("function", |n| format!("{}1{}", "x=function(){".repeat(n), "}".repeat(n))),
        ("fdecl", |n| format!("{}1{}", "function f(){".repeat(n), "}".repeat(n))),
        ("arrow block", |n| format!("{}1{}", "()=>{".repeat(n), "}".repeat(n))),
        ("class", |n| format!("{}{}", "class A{m(){".repeat(n), "}}".repeat(n))),
        ("classext", |n| format!("class A extends {} X{}", "class extends ".repeat(n), "{}".repeat(n+1))),
        ("unary", |n| format!("{}1", "!".repeat(n))),
        ("minus", |n| format!("{}1", "- ".repeat(n))),
        ("typeof", |n| format!("{}1", "typeof ".repeat(n))),
        ("await", |n| format!("{}1", "await ".repeat(n))),
        ("new", |n| format!("{}X", "new ".repeat(n))),
        ("plus", |n| format!("a{}", "+a".repeat(n))),
        ("and", |n| format!("a{}", "&&a".repeat(n))),
        ("pow", |n| format!("a{}", "**a".repeat(n))),
        ("assign", |n| format!("a{}", "=a".repeat(n))),
        ("cond", |n| format!("a{}", "?a:a".repeat(n))),
        ("condmid", |n| format!("{}a{}", "a?".repeat(n), ":a".repeat(n))),
        ("arrow", |n| format!("{}x", "x=>".repeat(n))),
        ("arrowp", |n| format!("{}x", "(x)=>".repeat(n))),
        ("asyncarrow", |n| format!("{}x", "async x=>".repeat(n))),
        ("member", |n| format!("a{}", ".a".repeat(n))),
        ("optional", |n| format!("a{}", "?.a".repeat(n))),
        ("tagged", |n| format!("a{}", "``".repeat(n))),
        ("template", |n| format!("{}1{}", "`${".repeat(n), "}`".repeat(n))),
        ("if", |n| format!("{};", "if(a)".repeat(n))),
        ("else", |n| format!("{};", "if(a);else ".repeat(n))),
        ("while", |n| format!("{};", "while(a)".repeat(n))),
        ("for", |n| format!("{};", "for(;;)".repeat(n))),
        ("forof", |n| format!("{};", "for(a of b)".repeat(n))),
        ("do", |n| format!("{};{}", "do ".repeat(n), "while(a)".repeat(n))),
        ("try", |n| format!("{}{}", "try{".repeat(n), "}catch{}".repeat(n))),
        ("catch", |n| format!("{}{}", "try{}catch({a}){".repeat(n), "}".repeat(n))),
        ("switch", |n| format!("{}{}", "switch(a){case 1:".repeat(n), "}".repeat(n))),
        ("label", |n| (0..n).map(|i| format!("a{i}:")).collect::<String>() + ";"),
        ("pattern", |n| format!("let {}a{}=1", "[".repeat(n), "]".repeat(n))),
        ("opattern", |n| format!("let {}a{}=1", "{a:".repeat(n), "}".repeat(n))),
        ("assignpattern", |n| format!("{}a{}=1", "[".repeat(n), "]".repeat(n))),
        ("default", |n| format!("{}1{}", "(a=".repeat(n), ")=>1".repeat(n))),
        ("import", |n| format!("{}1{}", "import(".repeat(n), ")".repeat(n))),
        ("as", |n| format!("a{}", " as b".repeat(n))),
        ("nonnull", |n| format!("let b: a = a{}", "!".repeat(n))),
        ("assertion", |n| format!("{}a", "<b>".repeat(n))),
        ("tparen", |n| format!("let a: {}b{}", "(".repeat(n), ")".repeat(n))),
        ("tarray", |n| format!("let a: b{}", "[]".repeat(n))),
        ("ttuple", |n| format!("let a: {}b{}", "[".repeat(n), "]".repeat(n))),
        ("tobj", |n| format!("let a: {}b{}", "{a:".repeat(n), "}".repeat(n))),
        ("tgeneric", |n| format!("let a: {}b{}", "A<".repeat(n), ">".repeat(n))),
        ("tkeyof", |n| format!("let a: {}b", "keyof ".repeat(n))),
        ("tcond", |n| format!("type a = {}b", "b extends b?b:".repeat(n))),
        ("tfn", |n| format!("let a: {}b", "()=>".repeat(n))),
        ("tunion", |n| format!("let a: {}b{}", "b|(".repeat(n), ")".repeat(n))),
        ("ttemplate", |n| format!("let a: {}b{}", "`${".repeat(n), "}`".repeat(n))),
        ("namespace", |n| format!("{}{}", "declare namespace a{".repeat(n), "}".repeat(n))),
        ("nsdot", |n| format!("declare namespace a{}{{}}", ".a".repeat(n))),
        ("enum", |n| format!("{}{}", "enum A{a=()=>{".repeat(n), "}}".repeat(n))),
        ("sequence", |n| format!("a{}", ",a".repeat(n))),
        ("jsx", |n| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n))),
    ("getter", |n| format!("{}{}", "x={get a(){".repeat(n), "}}".repeat(n))),
    ("field", |n| format!("{}{}", "class A{a=()=>{".repeat(n), "}}".repeat(n))),
    ("static", |n| format!("{}{}", "class A{static{".repeat(n), "}}".repeat(n))),
    ("computed key", |n| format!("x={}1{}", "{[".repeat(n), "]:1}".repeat(n))),
    ("spread", |n| format!("x={}1{}", "[...".repeat(n), "]".repeat(n))),
    ("yield", |n| format!("function* g(){{{}1}}", "yield ".repeat(n))),
    ("async function", |n| format!("{}{}", "async function f(){".repeat(n), "}".repeat(n))),
    ("nullish", |n| format!("a{}", "??a".repeat(n))),
    ("compare", |n| format!("a{}", "<a".repeat(n))),
    ("shift", |n| format!("a{}", ">>a".repeat(n))),
    ("in", |n| format!("a{}", " in a".repeat(n))),
    ("update", |n| format!("{}a", "++".repeat(n))),
    ("new call", |n| format!("{}X{}", "new ".repeat(n), "()".repeat(n))),
    ("open parens", |n| "(".repeat(n)),
    ("open squares", |n| "[".repeat(n)),
    ("open braces", |n| "{".repeat(n)),
    ("open templates", |n| "`${".repeat(n)),
    ("open calls", |n| "f(".repeat(n)),
    ("open angles", |n| "a<".repeat(n)),
    ("open objects", |n| format!("x={}", "{a:".repeat(n))),
    ("open tags", |n| "<a>".repeat(n)),
    ("arrow or paren", |n| "(a=>".repeat(n)),
    ("default arrows", |n| "(a=(b=".repeat(n)),
    ("async parens", |n| "async(".repeat(n)),
    ("type arguments", |n| format!("{}x{}", "f<".repeat(n), ">(1)".repeat(n))),
    ("typed arrows", |n| format!("{}x", "(x:T):T=>".repeat(n))),
    ("generic arrows", |n| format!("{}x", "<T,>(x:T)=>".repeat(n))),
    ("mapped", |n| format!("type a={}b{}", "{[k in c]:".repeat(n), "}".repeat(n))),
    ("infer", |n| format!("type a=b extends {}c{}?d:e", "f<infer g,".repeat(n), ">".repeat(n))),
    ("typeof import", |n| format!("type a={}b{}", "import('a').b<".repeat(n), ">".repeat(n))),
    ("constructor types", |n| format!("type a={}b", "new()=>".repeat(n))),
    ("indexed", |n| format!("type a=b{}", "['c']".repeat(n))),
    ("keyof lines", |n| format!("type a={}b", "keyof\n".repeat(n))),
    ("optional tuples", |n| format!("type a={}b{}", "[c?:".repeat(n), "]".repeat(n))),
    ("decorators", |n| format!("{}class A{{}}", "@a ".repeat(n))),
    ("regex brackets", |n| format!("/{}a{}/", "(".repeat(n), ")".repeat(n))),
    ("brackets in strings", |n| format!("'{}'", "(".repeat(n))),
    ("comment closers", |n| format!("{}1{}", "(/*)*/".repeat(n), ")".repeat(n))),
    ("string closers", |n| format!("{}1{}", "(')',".repeat(n), ")".repeat(n))),
    ("regex closers", |n| format!("{}1{}", "(/)/,".repeat(n), ")".repeat(n))),
    ("regex after brace", |n| format!("{}1{}", "(()=>{}/)/,".repeat(n), ")".repeat(n))),
    ("generic division", |n| "f<T>/(0/".repeat(n)),
    ("non-null division", |n| "x!/(0/".repeat(n)),
    ("update regex", |n| "(a\n++/)/".repeat(n)),
    ("head regex", |n| "(()=>{if/**/(a)/}/".repeat(n)),
    ("html comment", |n| "(\n<!-- )\n".repeat(n)),
    ("types with commas", |n| format!("let a:{}b{}", "A<x,".repeat(n), ">".repeat(n))),
    ("ifs with commas", |n| format!("{}a,{}b", "if(a)".repeat(n / 2), "!".repeat(n / 2))),
    ("statements", |n| "a;".repeat(n)),
    ("lines", |n| "a\n".repeat(n)),
    ("blocks in a row", |n| "{a}".repeat(n)),
    ("loops in a row", |n| "for(;;){}".repeat(n)),
    ("big array", |n| format!("x=[{}]", "1,".repeat(n))),
    ("big object", |n| format!("x={{{}}}", "a:1,".repeat(n))),
    ("many declarations", |n| (0..n).map(|i| format!("let a{i}={i}\n")).collect()),
    ("many functions", |n| (0..n / 10).map(|i| format!("function f{i}(){{}}")).collect()),
];

/// Runs `work` on a thread with the smallest stack that callers have.
fn on_small_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, work).unwrap().join().unwrap();
    });
}

/// No depth of anything overflows a stack, and none takes long: a bound so generous that only exponential or
/// quadratic behaviour can miss it.
#[test]
fn any_depth_ends() {
    on_small_stack(|| {
        for (name, make) in NESTED {
            for depth in [100, 10_000, 100_000] {
                let source = make(depth);
                let start = Instant::now();
                match prepare(&source, &PrepareOptions::cell()) {
                    Ok(prepared) => assert!(prepared.code.len() >= source.len()),
                    Err(refusal) => assert!(refusal.frame.unwrap().len() < 2_000, "{name}"),
                }
                let took = start.elapsed();
                assert!(took < Duration::from_secs(20), "{name} {depth} took {took:?}");
            }
        }
    });
}

/// The deepest that is still accepted is walked to the bottom; one step further is refused in words.
#[test]
fn the_limit_itself_holds() {
    on_small_stack(|| {
        for (name, make) in NESTED {
            let refused = |depth: usize| {
                prepare(&make(depth), &PrepareOptions::cell())
                    .is_err_and(|refusal| refusal.message == "The code is nested too deeply")
            };
            // Just below where the limits of the various forms are.
            let depths = [12_280, 6_130, 4_090, 3_070, 2_040, 1_360, 940, 795, 680, 395, 190];
            let depth = depths.into_iter().find(|depth| !refused(*depth)).unwrap_or(0);
            assert!(depth > 150, "{name} is refused at {depth} already");
        }
    });
}

/// What people write is far from the limit.
#[test]
fn ordinary_depth_is_accepted() {
    let accepted: &[(&str, String)] = &[
        ("200 brackets", format!("{}1{}", "[".repeat(200), "]".repeat(200))),
        ("200 callbacks", format!("{}1{}", "f(()=>{".repeat(200), "})".repeat(200))),
        ("500 else ifs", format!("if(a){{}}{}", "else if(a){}".repeat(500))),
        ("a sum of 5,000", format!("a{}", "+a".repeat(5_000))),
        ("a chain of 2,000 calls", format!("a{}", ".b(c)".repeat(2_000))),
        ("50,000 numbers", format!("x=[{}]", "1,".repeat(50_000))),
        ("20,000 properties", format!("x={{{}}}", "a:{b:1},".repeat(20_000))),
        ("divisions that begin a line", format!("x = a\n  / b\n{}", "f(a)[b].c({ d })\n".repeat(4_000))),
        ("divisions after anything", format!("x = {{}} / 2\nx++ / y\n{}", "f(a)[b].c({ d })\n".repeat(4_000))),
        ("20,000 lines", "foo(a).b = c\n".repeat(20_000)),
        ("20,000 functions", (0..20_000).map(|i| format!("function f{i}(a) {{ return a + {i} }}\n")).collect()),
    ];
    for (name, source) in accepted {
        let refused = prepare(source, &PrepareOptions::cell()).err().map(|refusal| refusal.message);
        assert_eq!(refused, None, "{name}");
    }
}

/// A megabyte is prepared; a ten-megabyte line is refused at once, in one sentence.
#[test]
fn size_has_a_limit() {
    let megabyte = "for (const x of xs) { total += x.value * 2 }\n".repeat((1 << 20) / 45);
    assert!(prepare(&megabyte, &PrepareOptions::cell()).is_ok());
    let long = format!("let a = \"{}\"", "x".repeat(MAX_SOURCE_BYTES - 100));
    assert!(prepare(&long, &PrepareOptions::cell()).is_ok());
    let wrong = format!("let a = \"{}\" +", "x".repeat(MAX_SOURCE_BYTES - 100));
    let refusal = prepare(&wrong, &PrepareOptions::cell()).unwrap_err();
    assert!(refusal.frame.unwrap().len() < 1_000);
    let refusal = prepare(&"x".repeat(10 << 20), &PrepareOptions::cell()).unwrap_err();
    assert_eq!(refusal.kind, FaultKind::Refused);
    assert_eq!(refusal.message, "The code has 10485760 bytes; the limit is 4194304");
}

/// For someone who types line by line.
#[test]
fn a_text_knows_whether_it_is_whole() {
    for whole in [
        "",
        "1",
        "let x = 1;",
        "let = =",
        "f(1))",
        "'abc",
        "x = /a",
        "class A { }",
        "// c",
        "a b",
        "`a`",
        "import x from 'y'",
    ] {
        assert!(is_complete(whole), "{whole}");
    }
    for more in [
        "{",
        "f(",
        "function f() {",
        "[1,",
        "`a",
        "`a${",
        "/* c",
        "x =",
        "a +",
        "if (a)",
        "class A {",
        "() =>",
        "let x: {",
        "a ?",
        "async () => {",
        "do {",
        "try {",
        "return (",
        "const",
        "x.",
    ] {
        assert!(!is_complete(more), "{more}");
    }
}
