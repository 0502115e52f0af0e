//! Command lines and what becomes of them.

use super::*;
use cove_core::NetworkPolicy;

fn read(line: &str) -> Result<Plan, CommandRefusal> {
    let policy = NetworkPolicy {
        allow_hosts: vec!["example.com".to_owned()],
        allow_private: vec!["127.0.0.1:80".to_owned()],
        ..NetworkPolicy::default()
    };
    let network = AddressRule::new(&policy);
    let name_file = |prefix: &str, ending: &str| format!("{prefix}-1.{ending}");
    Plan::read(line, &Rules { network: &network, inside: false, name_file: &name_file })
}

/// The plan as one line: files in brackets.
fn told(line: &str) -> String {
    let word = |word: &Word| match word {
        Word::Text(text) => text.clone(),
        Word::In(path) => format!("<{}", path.as_str()),
        Word::Out { path, later } => format!(">{}{}", path.as_str(), if *later { "…" } else { "" }),
    };
    let line_of = |words: &[Word]| words.iter().map(word).collect::<Vec<_>>().join("|");
    match read(line) {
        Ok(Plan::Close) => "CLOSE".to_owned(),
        Ok(Plan::Help) => help(),
        Ok(Plan::One { words, literal, .. }) => format!("{}{}", if literal { "LITERAL " } else { "" }, line_of(&words)),
        Ok(Plan::Batch { options, commands }) => {
            format!(
                "BATCH {} {}",
                options.join(" "),
                commands.iter().map(|c| line_of(c)).collect::<Vec<_>>().join(" ; ")
            )
        }
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn commands_are_read() {
    for (line, expected) in [
        ("open example.com", "open|example.com"),
        ("agent-browser snapshot -i -d 3", "snapshot|-i|-d|3"),
        ("--json get url", "get|url|--json"),
        ("agent-browser --json --max-output 9 snapshot -i", "snapshot|-i|--json|--max-output|9"),
        ("--json batch 'get url'", "BATCH --json get|url"),
        ("help click", "click|--help"),
        ("fill @e1 'a b' c", "fill|@e1|a b|c"),
        ("fill @e1 --dashed", "LITERAL fill|@e1|--dashed"),
        ("fill @e1 -5", "fill|@e1|-5"),
        ("eval '-x'", "LITERAL eval|-x"),
        ("screenshot", "screenshot|>screenshot-1.png"),
        ("screenshot --full", "screenshot|>screenshot-1.png|--full"),
        ("screenshot /workspace/a/b.png", "screenshot|>a/b.png"),
        ("screenshot @e3", "screenshot|@e3|>screenshot-1.png"),
        ("screenshot #main shots/x.png --json", "screenshot|#main|>shots/x.png|--json"),
        ("pdf out.pdf", "pdf|>out.pdf"),
        ("upload @e1 a.txt /workspace/b.txt", "upload|@e1|<a.txt|<b.txt"),
        ("download @e1", "download|@e1|>download-1.bin"),
        ("download", "download"),
        ("wait --download", "wait|--download|>download-1.bin"),
        ("wait --download x.zip --timeout 5", "wait|--download|>x.zip|--timeout|5"),
        ("wait #x --state hidden", "wait|#x|--state|hidden"),
        ("network har start", "network|har|start"),
        ("network har stop", "network|har|stop|>capture-1.har"),
        ("network har stop a.har", "network|har|stop|>a.har"),
        ("cookies set --curl c.txt", "cookies|set|--curl|<c.txt"),
        ("state save s.json", "state|save|>s.json"),
        ("state load s.json", "state|load|<s.json"),
        ("diff screenshot --baseline a.png -o d.png", "diff|screenshot|--baseline|<a.png|-o|>d.png"),
        ("record start v.webm", "record|start|>v.webm…"),
        ("tab new https://example.com --label docs", "tab|new|https://example.com|--label|docs"),
        ("tab t2", "tab|t2"),
        ("close", "CLOSE"),
        ("get --help", "get|--help"),
        (
            "batch --bail 'open example.com' 'fill @e1 \"x y\"' screenshot",
            "BATCH --bail open|example.com ; fill|@e1|x y ; screenshot|>screenshot-1.png",
        ),
        ("find role button click --name Submit", "find|role|button|click|--name|Submit"),
        ("mouse wheel -100", "mouse|wheel|-100"),
    ] {
        assert_eq!(told(line), expected, "{line}");
    }
}

#[test]
fn help_names_every_command() {
    for line in ["help", "--help", "agent-browser -h"] {
        let told = told(line);
        assert!(FORMS.iter().all(|form| told.contains(form.verb)) && !told.contains("connect"), "{told}");
    }
}

#[test]
fn what_is_not_the_clients_is_refused() {
    for (line, expected) in [
        ("", "empty"),
        ("snapshto -i", "did you mean `snapshot`"),
        ("frobnicate", "Unknown command"),
        ("addinitscript x", "Unknown command"),
        ("--headers {} open example.com", "does not begin with a flag"),
        ("--json", "does not begin with a flag"),
        ("--json --session x get url", "not available"),
        ("help --session", "Unknown command"),
        ("--session x open example.com", "not available"),
        ("open example.com --session other", "not available"),
        ("open example.com --session=other", "not available"),
        ("fill @e1 --session", "not available"),
        ("open example.com --args --no-sandbox", "not available"),
        ("connect 9222", "not available"),
        ("get cdp-url", "not available"),
        ("close --all", "not available"),
        ("eval --stdin", "not available"),
        ("read https://example.com", "unexpected argument"),
        ("read --llms full", "not available"),
        ("open file:///etc/passwd", "not allowed"),
        ("open other.org", "does not allow"),
        ("tab new file:///x", "not allowed"),
        ("diff url https://example.com file:///x", "not allowed"),
        ("screenshot /etc/x.png", "below /workspace"),
        ("screenshot ../x.png", "outside the workspace"),
        ("pdf /workspace/../x.pdf", "outside the workspace"),
        ("pdf /workspace/", "names a folder"),
        ("upload @e1 /etc/passwd", "below /workspace"),
        ("state load /root/s.json", "below /workspace"),
        ("diff screenshot --baseline=/etc/passwd", "with a space"),
        ("diff screenshot --baseline /etc/passwd", "below /workspace"),
        ("webmcp invoke x --params @/etc/passwd", "read as a file"),
        ("click @e1 --bogus", "has no flag"),
        ("click @e1 @e2", "unexpected argument"),
        ("snapshot -d", "needs a value"),
        ("batch 'open file:///x'", "not allowed"),
        ("batch batch", "inside a batch"),
        ("batch", "batch is empty"),
        ("batch --session x 'get url'", "not available"),
    ] {
        let told = told(line);
        assert!(told.starts_with('✗') && told.contains(expected), "{line}: {told}");
    }
}
