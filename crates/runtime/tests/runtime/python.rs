//! `/ipython/…`: what a cell shows, what it keeps, what it cannot break.

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::{rich_sandbox, sandbox};

#[tokio::test]
async fn cells_show_and_keep() {
    let sandbox = sandbox().await;
    for (code, stdout) in [
        ("x = 41", ""),
        ("x + 1", "42\n"),
        ("print('a'); 'b'", "a\n'b'\n"),
        ("1;", ""),
        ("None", ""),
        ("_", "'b'\n"),
        ("def f(n):\n    return n * 2\n\nf(21)", "42\n"),
        ("class A:\n    def __repr__(self): return 'an A'\nA()", "an A\n"),
        ("for i in range(3):\n    print(i)", "0\n1\n2\n"),
        ("import asyncio\nawait asyncio.sleep(0, 'awaited')", "'awaited'\n"),
        ("[await asyncio.sleep(0, n) for n in range(2)]", "[0, 1]\n"),
        ("import os, subprocess\nsubprocess.run(['echo', 'from a child']).returncode", "from a child\n0\n"),
        ("_ = os.system('echo from a shell')", "from a shell\n"),
        ("import ctypes\nl = ctypes.CDLL(None); _ = l.puts(b'from C'); _ = l.fflush(None)", "from C\n"),
        ("_ = os.write(1, b'raw\\n')", "raw\n"),
        ("os.getcwd(), __name__, os.environ['HOME']", "('/workspace', '__main__', '/workspace')\n"),
        ("open('made.txt', 'w').write('hi')", "2\n"),
        ("import sys; sys.stdin.read()", "''\n"),
        ("import pickle\nclass P: pass\ntype(pickle.loads(pickle.dumps(P()))) is P", "True\n"),
        ("# only a comment", ""),
        ("", ""),
        ("print('ünï', '漢字', '🙂')", "ünï 漢字 🙂\n"),
        ("x", "41\n"),
        ("try:\n    exit()\nexcept SystemExit: print('no')", "no\n"),
        ("raise SystemExit", ""),
        ("pid = os.fork()\nif pid == 0: print('child')\nelse: os.waitpid(pid, 0); print('parent')", "child\nparent\n"),
        ("import threading\nt = threading.Thread(target=lambda: print('thread')); t.start(); t.join()", "thread\n"),
    ] {
        let answer = sandbox.python(code).await;
        assert_eq!((&answer["stdout"], &answer["success"]), (&json!(stdout), &json!(true)), "{code}: {answer}");
        assert_eq!(answer["output"]["text"], answer["stdout"], "{code}");
        assert_eq!((&answer["error"], &answer["state_lost"]), (&Value::Null, &json!(false)), "{code}: {answer}");
    }
    let (_, status) = sandbox.get("/ipython/kernel_status").await;
    assert_eq!((&status["status"], &status["execution_count"]), (&json!("idle"), &json!(27)), "{status}");
}

#[tokio::test]
async fn errors_are_told_and_leave_the_state() {
    let sandbox = sandbox().await;
    sandbox.python("x = 1\ndef boom():\n    y = 0\n    return x / y").await;
    for (code, name, words) in [
        ("boom()", "ZeroDivisionError", vec!["<cell 1>\", line 4", "return x / y", "division by zero"]),
        ("undefined_name", "NameError", vec!["undefined_name", "line 1"]),
        ("def broken(:", "SyntaxError", vec!["SyntaxError", "def broken(:"]),
        ("print('before')\nraise ValueError('why')", "ValueError", vec!["ValueError: why", "line 2"]),
        ("input('name? ')", "RuntimeError", vec!["input() is not possible here"]),
        ("import nothing_like_this", "ModuleNotFoundError", vec!["nothing_like_this"]),
        ("raise SystemExit(3)", "SystemExit", vec!["3"]),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", vec!["KeyboardInterrupt"]),
        ("class E(Exception):\n  def __str__(self): raise 1\nraise E", "E", vec!["E"]),
        ("def r(): r()\nr()", "RecursionError", vec!["RecursionError"]),
        ("await 1", "TypeError", vec!["TypeError"]),
    ] {
        let answer = sandbox.python(code).await;
        assert_eq!((&answer["success"], &answer["error_name"]), (&json!(false), &json!(name)), "{code}: {answer}");
        let error = answer["error"].as_str().unwrap();
        for word in words {
            assert!(error.contains(word), "{code}: {error}");
        }
        assert!(!error.contains("<cove>"), "our own frames are nobody's business: {error}");
        assert_eq!(answer["state_lost"], false, "{answer}");
    }
    let answer = sandbox.python("import sys\nprint('o'); print('e', file=sys.stderr); x").await;
    assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!("o\n1\n"), &json!("e\n")));
    assert_eq!(answer["output"]["text"], "o\n1\ne\n");
    for wrong in [json!({}), json!({"code": 1}), json!({"code": "", "timeout": 0}), json!({"code": "", "timeout": "x"})]
    {
        sandbox.refused("/ipython/exec", wrong, 422, "validation_error").await;
    }
}

/// The interpreter's death is a value, not a failure of Ship.
#[tokio::test]
async fn a_dead_interpreter_is_replaced_and_said_so() {
    let sandbox = sandbox().await;
    for (code, words) in [
        ("import os; os._exit(3)", "exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("import ctypes; ctypes.string_at(0)", "signal 11"),
        ("import os; os.closerange(3, 1000)", "lost"),
        // The channel is found and written to.
        (
            "import os\nfor n in range(3, 1000):\n  try: os.write(n, b'\\x7f\\xff\\xff\\xffx')\n  except OSError: pass",
            "lost",
        ),
    ] {
        sandbox.python("x = 1").await;
        let answer = sandbox.python(code).await;
        // Closing or breaking the channel may be noticed by this cell or before the next.
        let told = if answer["state_lost"] == true { answer } else { sandbox.python("1").await };
        assert_eq!(told["state_lost"], true, "{code}: {told}");
        let text = format!("{} {}", told["ending"], told["stderr"]);
        assert!(text.contains(words), "{code}: {told}");
        let answer = sandbox.python("'x' in globals()").await;
        assert_eq!(answer["stdout"], "False\n", "{code}: {answer}");
    }
    sandbox.python("y = 1").await;
    sandbox.ok("/ipython/kernel/restart", json!({})).await;
    let answer = sandbox.python("'y' in globals()").await;
    assert_eq!((&answer["stdout"], &answer["execution_count"]), (&json!("False\n"), &json!(1)));
}

#[tokio::test]
async fn output_is_bounded_and_cells_take_turns() {
    let sandbox = sandbox().await;
    let answer = sandbox.python("for i in range(200000): print(i)").await;
    let text = answer["output"]["text"].as_str().unwrap();
    assert!(text.starts_with("0\n1\n") && text.ends_with("\n199999\n") && text.len() < 300 << 10);
    assert_eq!(answer["truncated"], true);
    sandbox.python("n = 0").await;
    let cells = (0..10).map(|_| sandbox.python("m = n; import time; time.sleep(0.01); n = m + 1"));
    futures_util::future::join_all(cells).await;
    assert_eq!(sandbox.python("n").await["stdout"], "10\n");
    let answer = sandbox.ok("/ipython/exec", json!({"code": "print(1); 2", "silent": true})).await;
    assert_eq!((&answer["output"]["text"], &answer["success"]), (&json!(""), &json!(true)));
}

fn size_of_png(image: &Value) -> (u32, u32) {
    let png = base64::engine::general_purpose::STANDARD.decode(image["image/png"].as_str().unwrap()).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// Figures and pictures come back as PNG, however they are shown.
#[tokio::test]
async fn pictures_are_returned() {
    let sandbox = rich_sandbox().await;
    let plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\n";
    for (code, images) in [
        (format!("{plot}plt.show()"), 1),
        (format!("{plot}plt.figure(); plt.plot([3, 2]);"), 2),
        ("fig, ax = plt.subplots(); ax.bar([1], [2])\nfig".to_owned(), 1),
        ("from PIL import Image\nImage.new('RGB', (30, 20), 'red')".to_owned(), 1),
        ("display(Image.new('L', (5, 7)), Image.new('CMYK', (2, 2)))".to_owned(), 2),
        ("Image.new('RGBA', (4, 4)).show()".to_owned(), 1),
        ("import numpy as np\nnp.arange(3)".to_owned(), 0),
        ("class P:\n    def _repr_png_(self):\n        import io; b = io.BytesIO(); Image.new('1', (3, 3)).save(b, 'PNG')\n        return b.getvalue()\nP()".to_owned(), 1),
    ] {
        let answer = sandbox.python(&code).await;
        assert_eq!(answer["success"], true, "{code}: {answer}");
        let got = answer["output"]["images"].as_array().unwrap();
        assert_eq!(got.len(), images, "{code}: {}", answer["output"]["text"]);
        got.iter().for_each(|image| assert!(size_of_png(image).0 > 0));
        assert!(!answer["stderr"].as_str().unwrap().contains("Warning"), "{code}: {answer}");
        assert!(images == 0 || !answer["stdout"].as_str().unwrap().contains("Figure size"), "{code}: {answer}");
    }
    let answer = sandbox.python("Image.new('RGB', (30, 20), 'red')").await;
    assert_eq!(size_of_png(&answer["output"]["images"][0]), (30, 20));
}

/// `exit` ends the cell and nothing else, by IPython and without it.
#[tokio::test]
async fn leaving_a_cell_leaves_everything_else() {
    let sandbox = rich_sandbox().await;
    for first in ["x = 1", "%env A=b\nx = 1"] {
        sandbox.python(first).await;
        for (code, error) in [
            ("print('so far'); exit(); print('no')", None),
            ("print('so far'); quit()", None),
            ("print('so far'); raise SystemExit(0)", None),
            ("print('so far'); exit(3)", Some("SystemExit: 3")),
            ("import sys; print('so far'); sys.exit('bye')", Some("SystemExit: bye")),
        ] {
            let answer = sandbox.python(code).await;
            assert_eq!((&answer["stdout"], &answer["error"]), (&json!("so far\n"), &json!(error)), "{code}: {answer}");
            assert_eq!((&answer["stderr"], &answer["state_lost"]), (&json!(""), &json!(false)), "{code}: {answer}");
        }
        let answer = sandbox.python("help(len); x").await;
        assert!(answer["stdout"].as_str().unwrap().ends_with("\n1\n"), "{answer}");
    }
}

/// What the future brings stays, as for the lines of one file.
#[tokio::test]
async fn the_future_holds_for_later_cells() {
    let sandbox = sandbox().await;
    sandbox.python("from __future__ import annotations").await;
    let answer = sandbox.python("def f(a: not_there): pass\nf.__annotations__").await;
    assert_eq!(answer["stdout"], "{'a': 'not_there'}\n", "{answer}");
}

/// IPython comes with the first cell that needs it, and finds everything in its place.
#[tokio::test]
async fn ipython_is_used_where_it_is_needed() {
    let sandbox = rich_sandbox().await;
    sandbox.python("x = 20").await;
    assert_eq!(sandbox.get("/ipython/kernel/status").await.1["ipython"], false);
    for (code, stdout) in [
        ("%env GREETING=hi", "env: GREETING=hi\n"),
        ("!echo $GREETING from a shell", "hi from a shell\n"),
        ("x + 1", "21\n"),
        ("y = !echo listed\ny[0]", "'listed'\n"),
        ("get_ipython().__class__.__mro__[1].__name__", "'InteractiveShell'\n"),
        ("100 % 7", "2\n"),
    ] {
        let answer = sandbox.python(code).await;
        assert_eq!((&answer["stdout"], &answer["success"]), (&json!(stdout), &json!(true)), "{code}: {answer}");
    }
    assert_eq!(sandbox.get("/ipython/kernel/status").await.1["ipython"], true);
    let answer = sandbox.python("1/0").await;
    assert_eq!((&answer["success"], &answer["error_name"]), (&json!(false), &json!("ZeroDivisionError")), "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("division by zero"), "{answer}");
    assert!(!answer["error"].as_str().unwrap().contains('\u{1b}'), "{answer}");
    let answer = sandbox
        .python(
            "from IPython.display import display\nimport matplotlib.pyplot as plt\nfig = plt.figure(); display(fig)",
        )
        .await;
    assert_eq!(answer["output"]["images"].as_array().unwrap().len(), 1, "{answer}");
    let answer = sandbox.python("input()").await;
    assert!(answer["error"].as_str().unwrap().contains("input() is not possible here"), "{answer}");
}
