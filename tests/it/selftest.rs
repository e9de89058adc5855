//! The test program's own parts, without langport: the scripted server over pipes, fixtures, and the process list.

use std::{
    io::BufReader,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    fake::{
        SCRIPT,
        script::{Act, Ask, Publish, Script, Step, watch},
        text::{self, Unit},
        wire,
    },
    support::{Log, Workspace, procs},
};

trials![
    the_fake_answers_publishes_and_mirrors,
    the_fake_notices_broken_rules,
    the_fake_follows_its_script,
    the_fake_asks_and_waits,
    fixtures_have_files_and_marks,
    positions_count_in_every_unit,
    processes_are_found_by_their_mark,
];

/// A hand-driven client of the fake.
struct Direct {
    child: Child,
    input: BufReader<ChildStdout>,
    output: ChildStdin,
    log: Log,
}

impl Direct {
    fn new(workspace: &Workspace, script: Script) -> Self {
        let log = workspace.home().join("direct.log");
        let file = workspace.home().join("direct.json");
        let script = Script { log: log.clone(), ..script };
        std::fs::write(&file, serde_json::to_vec(&script).unwrap()).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.env(SCRIPT, file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (BufReader::new(child.stdout.take().unwrap()), child.stdin.take().unwrap());
        let mut direct = Self { child, input, output, log: Log::new(&log) };
        let root = url::Url::from_file_path(workspace.root()).unwrap();
        direct.ask(1, "initialize", json!({"rootUri": root.as_str(), "capabilities": {}}));
        direct.tell("initialized", json!({}));
        direct
    }

    fn send(&mut self, message: &Value) {
        wire::write(&mut self.output, message).unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn next(&mut self) -> Value {
        serde_json::from_slice(&wire::read(&mut self.input).expect("a message")).unwrap()
    }

    fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    fn open(&mut self, uri: &str, version: i64, text: &str) {
        self.tell(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "version": version, "languageId": "python", "text": text}}),
        );
    }

    fn end(mut self) -> Log {
        self.ask(999, "shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.child.wait().unwrap().success());
        self.log
    }
}

fn the_fake_answers_publishes_and_mirrors() {
    let ws = Workspace::new("//- a.py\ndef alpha(): pass\n//- b.py\nalpha()\nERR here\n");
    let mut fake = Direct::new(&ws, Script::new());
    let (a, b) = (ws.uri("a.py"), ws.uri("b.py"));
    fake.open(&b, 1, &ws.read("b.py"));
    let published = fake.next();
    assert_eq!(published["params"]["diagnostics"][0]["message"], "ERR here (version 1)");
    let at = json!({"textDocument": {"uri": b}, "position": {"line": 0, "character": 2}});
    let hover = fake.ask(2, "textDocument/hover", at.clone());
    assert_eq!(hover["result"]["contents"]["value"], "```fake\nWORD alpha\n```\nreceived 0:2, line: alpha()");
    assert_eq!(fake.ask(3, "textDocument/references", at.clone())["result"].as_array().unwrap().len(), 2);
    assert_eq!(fake.ask(4, "textDocument/definition", at)["result"][0]["uri"], a.as_str());
    let change =
        json!({"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}, "text": "ok"});
    fake.tell("textDocument/didChange", json!({"textDocument": {"uri": b, "version": 2}, "contentChanges": [change]}));
    assert_eq!(fake.next()["params"], json!({"uri": b, "version": 2, "diagnostics": []}));
    ws.write("c.py", "alpha()\n");
    fake.tell("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": ws.uri("c.py"), "type": 1}]}));
    let at = json!({"textDocument": {"uri": a}, "position": {"line": 0, "character": 5}});
    assert_eq!(fake.ask(5, "textDocument/references", at)["result"].as_array().unwrap().len(), 3);
    let log = fake.end();
    assert_eq!(log.violations(), Vec::<String>::new());
    assert_eq!(log.count("textDocument/didChange"), 1);
}

fn the_fake_notices_broken_rules() {
    let ws = Workspace::new("//- a.py\nx\n");
    let mut fake = Direct::new(&ws, Script::new());
    let a = ws.uri("a.py");
    fake.open(&a, 1, "x\n");
    fake.open(&a, 1, "x\n");
    fake.tell(
        "textDocument/didChange",
        json!({"textDocument": {"uri": "file:///other", "version": 1}, "contentChanges": []}),
    );
    fake.tell("textDocument/didClose", json!({"textDocument": {"uri": "file:///other"}}));
    let violations = fake.end().violations();
    assert_eq!(violations.len(), 4, "{violations:?}");
}

fn the_fake_follows_its_script() {
    let ws = Workspace::new("//- a.py\nERR\n");
    let script = Script::new()
        .each(
            "textDocument/hover",
            [vec![Act::Reply(json!("$uri"))], vec![Act::Fail(-32603, "no".into())], vec![Act::Locations(3)]],
        )
        .publish(Publish {
            versioned: false,
            ..Publish::steps([Step::Empty, Step::Begin("check".into()), Step::Full, Step::End("check".into())])
        });
    let mut fake = Direct::new(&ws, script);
    let a = ws.uri("a.py");
    fake.open(&a, 1, "ERR\n");
    let seen: Vec<Value> = (0..4).map(|_| fake.next()).collect();
    assert_eq!(seen[0]["params"], json!({"uri": a, "diagnostics": []}));
    assert_eq!(seen[1]["params"]["value"]["kind"], "begin");
    assert_eq!(seen[2]["params"]["diagnostics"].as_array().unwrap().len(), 1);
    let at = json!({"textDocument": {"uri": a}, "position": {"line": 0, "character": 0}});
    assert_eq!(fake.ask(2, "textDocument/hover", at.clone())["result"], a.as_str());
    assert_eq!(fake.ask(3, "textDocument/hover", at.clone())["error"]["code"], -32603);
    assert_eq!(fake.ask(4, "textDocument/hover", at.clone())["result"].as_array().unwrap().len(), 3);
    assert_eq!(fake.ask(5, "textDocument/hover", at)["result"].as_array().unwrap().len(), 3);
    fake.end();
}

fn the_fake_asks_and_waits() {
    let ws = Workspace::new("//- a.py\nx\n");
    let configuration = Ask::new(7, "workspace/configuration", json!({"items": [{"section": "a"}]})).block();
    let script = Script::new().on("initialized", [configuration.into(), watch("**/*").into()]);
    let mut fake = Direct::new(&ws, script);
    let asked = fake.next();
    assert_eq!((&asked["id"], &asked["method"]), (&json!(7), &json!("workspace/configuration")));
    fake.send(&json!({"jsonrpc": "2.0", "id": 7, "result": [null]}));
    let asked = fake.next();
    assert_eq!(asked["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    fake.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": null}));
    assert_eq!(fake.log.answer_to(&json!(7))["result"], json!([null]));
    assert_eq!(fake.log.answer_to(&json!("ask-watch-1"))["result"], Value::Null);
    fake.end();
}

fn fixtures_have_files_and_marks() {
    let ws = Workspace::new("//- a/b.py\nx = 1\n  é😀 = $0y\n//- c d.py\n$0z\n");
    assert_eq!(ws.read("a/b.py"), "x = 1\n  é😀 = y\n");
    assert_eq!(ws.at(), json!({"file_path": "a/b.py", "line": 2, "column": 8}));
    assert_eq!(ws.nth(1), json!({"file_path": "c d.py", "line": 1, "column": 1}));
    assert_eq!(ws.marks().len(), 2);
}

fn positions_count_in_every_unit() {
    let line = "é😀 = tail";
    for (unit, column) in [(Unit::Utf8, 9), (Unit::Utf16, 6), (Unit::Utf32, 5)] {
        let at = text::offset(line, 0, column, unit).unwrap();
        assert_eq!(text::word_at(line, at), Some((9, "tail")), "{unit:?}");
        assert_eq!(text::place(line, 9, unit), (0, column));
    }
    assert_eq!(text::offset(line, 0, 2, Unit::Utf16), None, "inside a surrogate pair");
    assert_eq!(text::offset("a\r\nb\rc", 2, 1, Unit::Utf8), Some(6));
    assert_eq!(text::occurrences("add adder add(", "add"), [0, 10]);
}

fn processes_are_found_by_their_mark() {
    let mark = format!("langport-selftest-{}", std::process::id());
    let mut child = Command::new("sleep").arg("60").env(procs::MARK, &mark).spawn().unwrap();
    assert!(
        crate::support::within(crate::support::PATIENCE, || procs::marked(&mark)
            .contains_key(&child.id())
            .then_some(()))
        .is_some()
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!procs::alive(child.id()) && procs::marked(&mark).is_empty());
}
