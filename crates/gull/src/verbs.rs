//! The table of what may be asked of the browser: every command, its flags, and which of its words are files or
//! addresses.
//!
//! A list of what is allowed, not of what is forbidden: a flag or a command that a later agent-browser brings does
//! nothing here until somebody has looked at it and written a line.

/// What a word means to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A flag that stands alone.
    Nothing,
    /// Text that we do not read: a selector, a number, a script.
    Value,
    /// An address that the browser will visit.
    Url,
    /// A file of the workspace that is read.
    In,
    /// A file of the workspace that is written.
    Out,
    /// A file that is written by a later command (`record start` … `record stop`).
    OutLater,
}
use Takes::{In, Nothing, Out, OutLater, Url, Value};

/// One command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) verb: &'static str,
    /// The second word, where it chooses the meaning of the rest; `None` stands for any other or none.
    pub(crate) sub: Option<&'static str>,
    /// The words after that, in their order; the last one repeats if `many`.
    pub(crate) words: &'static [Takes],
    pub(crate) many: bool,
    pub(crate) flags: &'static [(&'static str, Takes)],
    /// Where a missing file name is filled in: the prefix and the ending of the name.
    pub(crate) default_out: Option<(&'static str, &'static str)>,
}

/// Flags that every command understands.
pub(crate) const COMMON_FLAGS: &[(&str, Takes)] = &[
    ("--json", Nothing),
    ("--help", Nothing),
    ("-h", Nothing),
    ("--max-output", Value),
    ("--content-boundaries", Nothing),
];

/// Flags that choose or change the browser, its session or its walls. Refused wherever they stand.
pub(crate) const OWNED_FLAGS: &[&str] = &[
    "--session",
    "--session-name",
    "--namespace",
    "--profile",
    "--cdp",
    "--auto-connect",
    "--executable-path",
    "--args",
    "--extension",
    "--init-script",
    "--enable",
    "--user-agent",
    "--proxy",
    "--proxy-bypass",
    "--ignore-https-errors",
    "--ca-cert",
    "--no-ca-cert",
    "--use-system-ca",
    "--allow-file-access",
    "--hide-scrollbars",
    "-p",
    "--provider",
    "--device",
    "--screenshot-dir",
    "--input-mode",
    "--headed",
    "--webgpu",
    "--no-webmcp",
    "--pin-tab",
    "--no-pin-tab",
    "--color-scheme",
    "--download-path",
    "--allowed-domains",
    "--action-policy",
    "--confirm-actions",
    "--confirm-interactive",
    "--idle-timeout",
    "--engine",
    "--no-auto-dialog",
    "--restore",
    "--restore-save",
    "--restore-check-url",
    "--restore-check-text",
    "--restore-check-fn",
    "--state",
    "--model",
    "-v",
    "-q",
    "-V",
    "--verbose",
    "--quiet",
    "--config",
    "--debug",
    "--version",
    "--default-timeout",
    "--stdin",
    "--password-stdin",
    "--credential-provider",
    "--item",
    "--all",
    "--llms",
    "--require-md",
];

/// Commands of agent-browser that have no place in a sandbox, with the reason.
pub(crate) const OWNED_VERBS: &[(&str, &str)] = &[
    ("connect", "the browser belongs to the sandbox"),
    ("install", "the browser belongs to the sandbox"),
    ("upgrade", "the version is fixed"),
    ("doctor", "the runtime reports its own health"),
    ("profiles", "the browser belongs to the sandbox"),
    ("mcp", "it would open another connection to the browser"),
    ("chat", "it would send data to a model outside the sandbox"),
    ("dashboard", "it would open another connection to the browser"),
    ("inspect", "it would open another connection to the browser"),
    ("stream", "it would open another connection to the browser"),
    ("plugin", "it would run programs outside the browser"),
    ("daemon", "the daemon belongs to the sandbox"),
    ("confirm", "no action waits for a confirmation here"),
    ("deny", "no action waits for a confirmation here"),
    ("device", "there are no simulators here"),
    ("tap", "there are no simulators here"),
    ("swipe", "there are no simulators here"),
];

const fn form(verb: &'static str, words: &'static [Takes]) -> Form {
    Form { verb, sub: None, words, many: false, flags: &[], default_out: None }
}

impl Form {
    const fn sub(mut self, sub: &'static str) -> Self {
        self.sub = Some(sub);
        self
    }

    const fn many(mut self) -> Self {
        self.many = true;
        self
    }

    const fn flags(mut self, flags: &'static [(&'static str, Takes)]) -> Self {
        self.flags = flags;
        self
    }

    const fn named(mut self, prefix: &'static str, ending: &'static str) -> Self {
        self.default_out = Some((prefix, ending));
        self
    }
}

const SHOT: &[(&str, Takes)] = &[
    ("--full", Nothing),
    ("-f", Nothing),
    ("--if-changed", Nothing),
    ("--threshold", Value),
    ("--annotate", Nothing),
    ("--screenshot-quality", Value),
    ("--screenshot-format", Value),
];
const HUMAN: &[(&str, Takes)] =
    &[("--human", Nothing), ("--seed", Value), ("--duration", Value), ("--steps", Value), ("--new-tab", Nothing)];
const SNAP: &[(&str, Takes)] = &[
    ("-i", Nothing),
    ("--interactive", Nothing),
    ("-u", Nothing),
    ("--urls", Nothing),
    ("-c", Nothing),
    ("--compact", Nothing),
    ("-d", Value),
    ("--depth", Value),
    ("-s", Value),
    ("--selector", Value),
    ("--delta", Nothing),
    ("--full", Nothing),
];
const COOKIE: &[(&str, Takes)] = &[
    ("--url", Value),
    ("--domain", Value),
    ("--path", Value),
    ("--httpOnly", Nothing),
    ("--secure", Nothing),
    ("--sameSite", Value),
    ("--expires", Value),
    ("--curl", In),
];
const LOGIN: &[(&str, Takes)] = &[
    ("--url", Url),
    ("--username", Value),
    ("--password", Value),
    ("--username-selector", Value),
    ("--password-selector", Value),
    ("--submit-selector", Value),
    ("--no-navigate", Nothing),
];
const RECORD: &[(&str, Takes)] = &[("--fps", Value), ("--cursor", Nothing)];
const WEBMCP: &[(&str, Takes)] =
    &[("--frame", Value), ("--params", Value), ("--detach", Nothing), ("--timeout", Value)];

/// Every command that is passed on.
pub(crate) const FORMS: &[Form] = &[
    form("open", &[Url]).flags(&[("--headers", Value)]),
    form("goto", &[Url]).flags(&[("--headers", Value)]),
    form("navigate", &[Url]).flags(&[("--headers", Value)]),
    form("back", &[]),
    form("forward", &[]),
    form("reload", &[]),
    form("pushstate", &[Value]),
    form("read", &[]).flags(&[("--raw", Nothing), ("--outline", Nothing), ("--filter", Value), ("--timeout", Value)]),
    form("close", &[]),
    form("quit", &[]),
    form("exit", &[]),
    form("snapshot", &[]).flags(SNAP),
    form("screenshot", &[Value, Out]).flags(SHOT).named("screenshot", "png"),
    form("pdf", &[Out]).named("page", "pdf"),
    form("diff", &[]).sub("snapshot").flags(&[
        ("-b", In),
        ("--baseline", In),
        ("-s", Value),
        ("--selector", Value),
        ("-c", Nothing),
        ("--compact", Nothing),
        ("-d", Value),
        ("--depth", Value),
    ]),
    form("diff", &[]).sub("screenshot").flags(&[
        ("-b", In),
        ("--baseline", In),
        ("-o", Out),
        ("--output", Out),
        ("-t", Value),
        ("--threshold", Value),
        ("-s", Value),
        ("--selector", Value),
        ("--full", Nothing),
    ]),
    form("diff", &[Url, Url]).sub("url").flags(&[
        ("--screenshot", Nothing),
        ("--full", Nothing),
        ("--wait-until", Value),
        ("-s", Value),
        ("--selector", Value),
        ("-c", Nothing),
        ("--compact", Nothing),
        ("-d", Value),
        ("--depth", Value),
    ]),
    form("a11y", &[Url]).flags(&[("--tags", Value), ("-s", Value), ("--selector", Value)]),
    form("vitals", &[Url]),
    form("click", &[Value]).flags(HUMAN),
    form("dblclick", &[Value]).flags(HUMAN),
    form("focus", &[Value]),
    form("hover", &[Value]),
    form("check", &[Value]),
    form("uncheck", &[Value]),
    form("fill", &[Value, Value]).many(),
    form("type", &[Value, Value]).many(),
    form("press", &[Value]),
    form("key", &[Value]),
    form("keydown", &[Value]),
    form("keyup", &[Value]),
    form("keyboard", &[Value]).sub("type").many(),
    form("keyboard", &[Value]).sub("inserttext").many(),
    form("select", &[Value, Value]).many(),
    form("drag", &[Value, Value]).flags(HUMAN),
    form("upload", &[Value, In]).many(),
    form("download", &[Value, Out]).named("download", "bin"),
    form("scroll", &[Value, Value]).flags(&[("-s", Value), ("--selector", Value)]),
    form("scrollintoview", &[Value]),
    form("scrollinto", &[Value]),
    form("mouse", &[Value]).many().flags(HUMAN),
    form("find", &[Value]).many().flags(&[("--name", Value), ("--exact", Nothing)]),
    form("clipboard", &[Value]).many(),
    form("highlight", &[Value]),
    form("get", &[Value]).sub("text"),
    form("get", &[Value]).sub("html"),
    form("get", &[Value]).sub("value"),
    form("get", &[Value, Value]).sub("attr"),
    form("get", &[]).sub("title"),
    form("get", &[]).sub("url"),
    form("get", &[Value]).sub("count"),
    form("get", &[Value]).sub("box"),
    form("get", &[Value]).sub("styles"),
    form("is", &[Value]).sub("visible"),
    form("is", &[Value]).sub("enabled"),
    form("is", &[Value]).sub("checked"),
    form("eval", &[Value]).many().flags(&[("-b", Nothing), ("--base64", Nothing)]),
    form("console", &[]).flags(&[("--clear", Nothing)]),
    form("errors", &[]).flags(&[("--clear", Nothing)]),
    form("wait", &[Value]).flags(&[
        ("--text", Value),
        ("--url", Value),
        ("--load", Value),
        ("--fn", Value),
        ("--state", Value),
        ("--timeout", Value),
        ("--download", Out),
    ]),
    form("set", &[Value]).sub("viewport").many(),
    form("set", &[Value]).sub("device").many(),
    form("set", &[Value]).sub("geo").many(),
    form("set", &[Value]).sub("offline"),
    form("set", &[Value]).sub("headers"),
    form("set", &[Value, Value]).sub("credentials"),
    form("set", &[Value]).sub("media").many(),
    form("network", &[Value]).sub("route").flags(&[
        ("--abort", Nothing),
        ("--body", Value),
        ("--allow-origin", Value),
        ("--resource-type", Value),
    ]),
    form("network", &[Value]).sub("unroute"),
    form("network", &[]).sub("requests").flags(&[
        ("--clear", Nothing),
        ("--filter", Value),
        ("--type", Value),
        ("--method", Value),
        ("--status", Value),
    ]),
    form("network", &[Value]).sub("request"),
    form("network", &[Value, Out]).sub("har").flags(&[("--content", Value)]).named("capture", "har"),
    form("cookies", &[Value, Value]).sub("set").flags(COOKIE),
    form("cookies", &[]).sub("get").flags(COOKIE),
    form("cookies", &[]).sub("clear"),
    form("cookies", &[]),
    form("storage", &[Value]).sub("local").many(),
    form("storage", &[Value]).sub("session").many(),
    form("state", &[Out]).sub("save").named("state", "json"),
    form("state", &[In]).sub("load"),
    form("auth", &[Value]).sub("save").flags(LOGIN),
    form("auth", &[Value]).sub("login").flags(LOGIN),
    form("auth", &[]).sub("list"),
    form("auth", &[Value]).sub("show"),
    form("auth", &[Value]).sub("delete"),
    form("tab", &[Url]).sub("new").flags(&[("--label", Value)]),
    form("tab", &[Value]).sub("close"),
    form("tab", &[]).sub("list"),
    form("tab", &[Value]),
    form("window", &[]).sub("new"),
    form("frame", &[Value]),
    form("dialog", &[Value]).sub("accept"),
    form("dialog", &[]).sub("dismiss"),
    form("dialog", &[]).sub("status"),
    form("trace", &[]).sub("start"),
    form("trace", &[Out]).sub("stop").named("trace", "json"),
    form("profiler", &[]).sub("start").flags(&[("--categories", Value)]),
    form("profiler", &[Out]).sub("stop").named("profile", "json"),
    form("record", &[OutLater, Url]).sub("start").flags(RECORD),
    form("record", &[OutLater, Url]).sub("restart").flags(RECORD),
    form("record", &[]).sub("stop"),
    form("react", &[]).sub("tree"),
    form("react", &[Value]).sub("inspect"),
    form("react", &[Value]).sub("renders"),
    form("react", &[]).sub("suspense").flags(&[("--only-dynamic", Nothing)]),
    form("webmcp", &[Value]).sub("list").flags(WEBMCP),
    form("webmcp", &[Value]).sub("invoke").flags(WEBMCP),
    form("webmcp", &[Value]).sub("result").flags(WEBMCP),
    form("webmcp", &[Value]).sub("cancel").flags(WEBMCP),
    form("removeinitscript", &[Value]),
    form("skills", &[]).sub("list"),
    form("skills", &[Value]).sub("get").flags(&[("--full", Nothing)]),
    form("session", &[]),
    form("batch", &[Value]).many().flags(&[("--bail", Nothing), ("--omit-command", Nothing)]),
];
