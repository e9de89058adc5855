//! What the inputs are thrown at, and what must hold whatever they are.

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use langport::{
    mcp::{self, McpSettings},
    protocol::{
        Connection, Effective, FileEvent, Host, Method, Registration, RequestError, Room, Streams, Told, WireLimits,
        read::{self, Caps},
        types::FileRef,
        uri::{path_to_uri, uri_to_ref},
    },
    render::{self, Options, Output},
    sys::secrets as hiding,
    tools::{
        News, ToolCall, ToolId, Tools,
        cursor::{decode, encode},
        outcome::{Body, Failure, HoverText, Outcome, Page, ServerVerdict, Verdict},
    },
    workspace::uri::to_path,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, duplex},
    sync::watch,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// Far more than any input takes: one that reaches it hangs.
const HANGS: Duration = Duration::from_secs(20);

fn on_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { timeout(HANGS, work).await.expect("no input makes it hang") })
}

/// A client that wants nothing.
#[derive(Debug)]
struct Nobody;

impl Host for Nobody {
    fn told(&self, _: Told) {}

    fn configuration(&self, _: Option<&str>, _: Option<&str>) -> Value {
        Value::Null
    }

    fn folders(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn reply(&self, _: &str, _: &Value) -> Option<Value> {
        None
    }

    fn apply_edit(&self, _: &[u8]) -> Result<(), String> {
        Err("nobody asked for it".into())
    }
}

/// All that a language server can write, up to the end of its output: every request ends with an answer or an error.
pub(crate) fn wire(input: &[u8]) {
    on_runtime(async {
        let (output, mut ours) = duplex(1 << 20);
        let (mut theirs, input_end) = duplex(1 << 20);
        let limits = WireLimits { body_bytes: 1 << 20, kept_bytes: 64 << 10, ..WireLimits::default() };
        let streams = Streams { input: Box::new(input_end), output: Box::new(output), unread: None };
        let connection = Connection::open(streams, Arc::new(Nobody), limits, &Room::default());
        let asked: Vec<_> = (0..3)
            .map(|_| connection.request("textDocument/hover", &Value::Null, HANGS * 2).expect("an open connection"))
            .collect();
        theirs.write_all(input).await.ok();
        drop(theirs);
        for pending in asked {
            match pending.await {
                Ok(response) => {
                    let _ = read::hover(response.result(), &Caps::default());
                }
                Err(RequestError::Timeout { .. }) => panic!("a request outlives the connection"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        connection.closed().await;
        connection.caught_up(u64::MAX).await;
        drop(connection);
        // What was written to the server is frames of JSON.
        let mut written = Vec::new();
        ours.read_to_end(&mut written).await.expect("the end");
        let mut rest = &written[..];
        while !rest.is_empty() {
            let head = b"Content-Length: ";
            let end = rest.windows(4).position(|window| window == b"\r\n\r\n").expect("the end of a header");
            assert!(rest.starts_with(head));
            let length: usize = String::from_utf8_lossy(&rest[head.len()..end]).parse().expect("a length");
            let body = &rest[end + 4..];
            // The connection may have ended while it wrote its last one.
            let Some(body) = body.get(..length) else { break };
            serde_json::from_slice::<Value>(body).expect("JSON");
            rest = &rest[end + 4 + length..];
        }
    });
}

/// Tools that answer at once.
struct Echo(watch::Sender<u64>);

impl Tools for Echo {
    fn call(self: Arc<Self>, _: ToolCall) -> Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>> {
        Box::pin(async { Ok(outcome(String::new(), Vec::new())) })
    }

    fn news(&self) -> News {
        News { files: self.0.subscribe(), problems: self.0.subscribe(), states: self.0.subscribe() }
    }
}

/// All that a client can write, up to the end of its input: whole lines of JSON-RPC come back, and the end.
pub(crate) fn client(input: &[u8]) {
    on_runtime(async {
        let (mut theirs, read) = duplex(1 << 20);
        let (write, mut answers) = duplex(1 << 20);
        let tools: Arc<dyn Tools> = Arc::new(Echo(watch::Sender::new(0)));
        let served = tokio::spawn(mcp::serve(tools, McpSettings::default(), read, write, CancellationToken::new()));
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            answers.read_to_end(&mut all).await.ok();
            all
        });
        theirs.write_all(input).await.ok();
        drop(theirs);
        // How it ends is the client's affair; that it does is ours.
        let _ = served.await.expect("no panic");
        let all = reading.await.expect("no panic");
        for line in all.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message: Value = serde_json::from_slice(line).expect("a line of JSON");
            assert_eq!(message["jsonrpc"], "2.0");
        }
    });
}

/// Every reader of answers, on the same text: whatever it makes of it is within its caps.
pub(crate) fn visitors(input: &[u8]) {
    let caps = Caps { list: 20, items: 10, text: 500, message: 100, line: 50, name: 30 };
    let places = read::locations(input, &caps, None);
    if let Ok(places) = &places {
        assert!(places.items.len() <= caps.list);
    }
    if let Ok(hover) = read::hover(input, &caps) {
        // Marks for what was cut and for code may stand beside it.
        assert!(format!("{hover:?}").len() <= 40 * caps.text);
    }
    if let Ok(found) = read::completions(input, &caps, "a") {
        assert!(found.items.len() <= caps.items);
    }
    if let Ok(published) = read::published(input, &caps) {
        let list = &published.list;
        assert!(list.items.len() <= caps.items && list.told().sum() == list.items.len() + list.cut().sum());
        assert!(list.items.iter().all(|item| item.message.len() <= caps.message + 4));
        assert!(list.items.iter().all(|item| item.range.start <= item.range.end));
    }
    let _ = read::report(input, &caps);
    let _ = read::workspace_report(input, &caps);
    let _ = read::hierarchy_items(input, &caps);
    let _ = read::calls(input, &caps);
    let _ = read::outline(input, &caps, &read::Sought::Part("a".into()));
    let _ = read::signatures(input, &caps);
    let _ = read::symbol_hits(input, &caps, "a");
    let _ = read::tsserver_symbols(input, &caps, "a");
    let _ = read::code_actions(input, &caps, read::Wanted::default());
    let _ = read::prepare_rename(input, &caps);
    let _ = read::workspace_edit(input);
    let _ = read::text_edits(input);
    let _ = read::edit_inside(input);
}

/// What a server says that it can do, at once or later, with its patterns for files.
pub(crate) fn capabilities(input: &[u8]) {
    let (Ok(mut server), Ok(options)) = (Effective::from_initialize(input), serde_json::from_slice::<Value>(input))
    else {
        return;
    };
    for method in ["workspace/didChangeWatchedFiles", "textDocument/hover", "textDocument/didChange"] {
        server.register([Registration { id: "1".into(), method: method.into(), options: options.clone() }]);
    }
    let path = Path::new("/w/deep/a.py");
    let _ = server.can(Method::Hover, "python", path);
    let _ = server.sync("python", path);
    let _ = server.wants(path, FileEvent::Changed, &["/w"]);
    let _ = (server.encoding(), server.server_info(), server.takes_folders(), server.runs("x"));
    assert!(server.watches().all(|watch| watch.pattern().len() <= input.len()));
}

/// A URI is one path or none; the path has one spelling, which leads back to it.
pub(crate) fn uris(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for uri in text.lines() {
        if let Some(path) = to_path(uri) {
            assert!(path.is_absolute(), "{uri} is {}", path.display());
        }
        match uri_to_ref(uri) {
            FileRef::Path(path) => {
                let own = path_to_uri(&path);
                assert!(own.starts_with("file:///") && own.is_ascii(), "{own}");
                let normal: PathBuf = path.components().collect();
                if !normal.components().any(|part| matches!(part, std::path::Component::ParentDir)) {
                    assert_eq!(uri_to_ref(&own), FileRef::Path(normal), "{uri} by way of {own}");
                }
            }
            FileRef::Foreign(text) => assert!(text.chars().count() <= 300),
        }
    }
}

fn outcome(prose: String, code: Vec<String>) -> Outcome {
    Outcome {
        verdict: Verdict::Fresh,
        servers: vec![ServerVerdict {
            id: "builtin/pyright".parse().expect("a name"),
            server: langport::registry::DisplayName::new("pyright"),
            verdict: Verdict::Fresh,
            reason: None,
        }],
        summary: "hover".to_owned(),
        notes: Vec::new(),
        details: Vec::new(),
        body: Body::Hover(HoverText { file: "a.py".to_owned(), line: 1, column: 1, code, prose, truncated: false }),
        page: Page::default(),
    }
}

/// What servers and files say never stands at the beginning of a line, nor hides anything, nor goes beyond the budget.
pub(crate) fn text(input: &[u8]) {
    let text = String::from_utf8_lossy(input).into_owned();
    for cap in [1, 7, 80] {
        let line = render::line(&text, cap);
        assert!(
            line.chars().count() <= cap && !line.contains(['\n', '\r', '\u{1b}', '\u{202e}', '\u{2028}']),
            "{line:?}"
        );
    }
    let outcome = outcome(text.clone(), vec![text]);
    for output in [Output::Text, Output::Structured, Output::Both] {
        let rendered = render::outcome(&outcome, Options { tool: ToolId::Hover, output, max_chars: 500 });
        if output == Output::Structured {
            continue;
        }
        assert!(rendered.text.chars().count() <= 500, "{}", rendered.text);
        let mut lines = rendered.text.lines();
        assert_eq!(lines.next(), Some("fresh · pyright · hover"));
        for line in lines {
            let own = line.is_empty() || line.starts_with("a.py:1:1") || line.starts_with('(') || line.starts_with('…');
            assert!(own || line.starts_with("  ") || line.starts_with("next"), "{line:?} in {}", rendered.text);
            assert!(!line.contains(|c: char| c.is_control() || matches!(c, '\u{202e}' | '\u{e0041}')), "{line:?}");
        }
    }
}

/// The first line is the arguments, the rest is the file.
pub(crate) fn address(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (arguments, file) = text.split_once('\n').unwrap_or((&text, ""));
    if let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) {
        langport::tools::address::exercise(&arguments, file);
    }
}

/// A cursor is read only if it was made here, for this tool.
pub(crate) fn cursor(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for token in text.lines() {
        if let Ok(cursor) = decode(ToolId::References, token) {
            let again = encode(ToolId::References, cursor.offset, cursor.fingerprint);
            assert_eq!(decode(ToolId::References, &again).ok().map(|cursor| cursor.offset), Some(cursor.offset));
            assert!(decode(ToolId::Hover, token).is_err(), "{token} is for one tool only");
        }
    }
}

/// What was learnt is in no text afterwards, and hiding twice hides nothing more.
pub(crate) fn secrets(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    hiding::learn("FUZZ_TOKEN", "s3cret-of-the-fuzzer");
    let hidden = hiding::hide(&text).into_owned();
    assert!(!hidden.contains("s3cret-of-the-fuzzer"), "{hidden}");
    assert_eq!(hiding::hide_known(&hidden), hidden);
}
