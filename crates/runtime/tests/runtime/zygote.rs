//! Python with modules imported ahead: cells run in copies of one interpreter that never runs any.

use cove_cell::CellOptions;
use serde_json::json;

use crate::support::{Sandbox, rich_sandbox_with, sandbox_with, until};

fn preload(modules: &str) -> impl FnOnce(&mut CellOptions) {
    let args = ["--preload", modules].map(str::to_owned);
    move |options| options.args.extend(args)
}

async fn restart(sandbox: &Sandbox) {
    sandbox.ok("/ipython/kernel/restart", json!({})).await;
}

/// A cell's interpreter and the zygote it is a copy of, which is older than all copies.
async fn lineage(sandbox: &Sandbox) -> [i64; 2] {
    let code = "import os, subprocess
print(os.getpid(), subprocess.run(['pgrep', '-o', 'python3'], capture_output=True, text=True).stdout)";
    let answer = sandbox.python(code).await;
    let numbers: Vec<i64> =
        answer["stdout"].as_str().unwrap().split_whitespace().map(|word| word.parse().unwrap()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{answer}"))
}

/// Python is there before anybody asks and again after it died, whole each time: modules, pictures, threads, chance.
#[tokio::test]
async fn every_copy_is_whole() {
    let sandbox = rich_sandbox_with(preload("numpy,matplotlib.pyplot,not_there")).await;
    let warm = || async { sandbox.get("/ipython/kernel/status").await.1["alive"] == true };
    let (mut drawn, mut zygotes) = (Vec::new(), Vec::new());
    for end in ["import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)", "restart"] {
        until("Python is warm", warm).await;
        let answer = sandbox.python("import sys\n'numpy' in sys.modules, 'matplotlib.pyplot' in sys.modules").await;
        assert_eq!((&answer["stdout"], &answer["execution_count"]), (&json!("(True, True)\n"), &json!(1)), "{answer}");
        let answer = sandbox
            .python("matplotlib = sys.modules['matplotlib']; matplotlib.pyplot.plot([1]); matplotlib.pyplot.show()")
            .await;
        assert_eq!(answer["output"]["images"].as_array().unwrap().len(), 1, "{answer}");
        // Many threads of C, and some of Python.
        let answer = sandbox
            .python(
                "import numpy, concurrent.futures as f\na = numpy.ones((400, 400))\n\
                 with f.ThreadPoolExecutor(4) as p: print([float((a @ a)[0, 0]) for _ in p.map(lambda n: a @ a, range(8))][0])",
            )
            .await;
        assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!("400.0\n"), &json!("")), "{answer}");
        let answer =
            sandbox.python("import random, uuid; print(numpy.random.random(), random.random(), uuid.uuid4())").await;
        drawn.extend(answer["stdout"].as_str().unwrap().split_whitespace().map(str::to_owned));
        let answer = sandbox.python("import subprocess; print(subprocess.run('exit 3', shell=True).returncode)").await;
        assert_eq!(answer["stdout"], "3\n", "{answer}");
        zygotes.push(lineage(&sandbox).await[1]);
        if end == "restart" { restart(&sandbox).await } else { drop(sandbox.python(end).await) }
    }
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn.len(), 9, "chance that repeats itself: {drawn:?}");
    assert!(zygotes.iter().all(|zygote| *zygote == zygotes[0]), "the modules were imported again: {zygotes:?}");
    let answer = sandbox.python("%env A=b").await;
    assert_eq!(answer["stdout"], "env: A=b\n", "{answer}");
}

/// What a copy has started ends with it; nothing of it stays with the zygote, neither process nor descriptor.
#[tokio::test]
async fn nothing_of_a_copy_outlives_it() {
    let sandbox = sandbox_with(preload("json")).await;
    let [_, zygote] = lineage(&sandbox).await;
    let daemon = "import os, subprocess, sys, time
for n in range(3):
    subprocess.Popen(['setsid', 'sh', '-c', 'sleep 997 & sleep 997 & exec sleep 997'])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(997)
    os._exit(0)";
    let open = format!("ls /proc/{zygote}/fd | wc -l");
    // While it makes a copy it has the copy's files open, too.
    until("both copies are made", || async { sandbox.out("pgrep -c python3").await == "3" }).await;
    let before: u32 = sandbox.out(&open).await.parse().unwrap();
    for round in 0..4 {
        sandbox.python(daemon).await;
        if round % 2 == 0 {
            restart(&sandbox).await;
        } else {
            sandbox.python("import os; os._exit(0)").await;
        }
        assert_eq!(lineage(&sandbox).await[1], zygote, "round {round}");
        let left = "ps -eo args | grep -cE '[s]leep 997' || true; ps -eo stat | grep -c '^Z' || true; pgrep -c python3";
        until("only the zygote and two copies are left", || async { sandbox.out(left).await == "0\n0\n3" }).await;
    }
    until("nothing more is open than before", || async { sandbox.out(&open).await.parse::<u32>().unwrap() <= before })
        .await;
}

/// Guests have the zygote's user. Whatever they do to it, Python comes back.
#[tokio::test]
async fn a_zygote_that_guests_have_harmed_is_replaced() {
    let sandbox = sandbox_with(preload("json")).await;
    for harm in
        ["kill -9 ZYGOTE", "kill -STOP ZYGOTE", "kill -INT ZYGOTE", "kill -9 OWN", "kill -STOP OWN", "kill -9 -1"]
    {
        let [own, zygote] = lineage(&sandbox).await;
        let harm = harm.replace("ZYGOTE", &zygote.to_string()).replace("OWN", &own.to_string());
        sandbox.ok("/shell/exec", json!({"command": harm})).await;
        restart(&sandbox).await;
        until("Python is back", || async { sandbox.python("6 * 7").await["stdout"] == "42\n" }).await;
        assert_ne!(lineage(&sandbox).await[0], own, "{harm}");
        let all = "pgrep -c python3";
        until("the old ones have gone", || async { sandbox.out(all).await == "3" }).await;
    }
}

/// A copy has only one of its original's threads, so what keeps threads is not copied.
#[tokio::test]
async fn modules_that_keep_threads_are_not_copied() {
    let sandbox = sandbox_with(|options| {
        let module = "import threading, time\nthreading.Thread(target=time.sleep, args=(999,), daemon=True).start()\n";
        std::fs::write(options.workspace.join("threaded.py"), module).unwrap();
        preload("threaded")(options);
    })
    .await;
    for _ in 0..2 {
        let answer = sandbox.python("import sys, threading\n'threaded' in sys.modules, threading.active_count()").await;
        assert_eq!(answer["stdout"], "(True, 2)\n", "{answer}");
        restart(&sandbox).await;
    }
}
