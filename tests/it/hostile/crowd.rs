//! Several servers that misbehave at the same time: what one of them may take they may not take each.

use serde_json::{Value, json};

use super::{ALLOWED, PATIENT};
use crate::{
    fake::{
        script::{Act, Publish, Script},
        wire::frame,
    },
    support::{Answer, Definition, Langport, Pace, Workspace, in_pace, procs},
};

trials![
    b3_large_answers_of_several_servers_take_no_more_memory_than_one,
    b3_large_lists_of_several_servers_take_no_more_memory_than_one,
    b3_a_large_answer_that_comes_slowly_keeps_nobody_waiting_for_good,
];

/// Problems of a list that has 15 MiB.
const PROBLEMS: usize = 14_000;

const SERVERS: [(&str, &str, &str); 4] =
    [("one", "python", "a.py"), ("two", "go", "b.go"), ("three", "rust", "c.rs"), ("four", "ruby", "d.rb")];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

/// One server for each language, all with a script, and one more that is well.
fn crowd(script: impl Fn(&Workspace, &str, &str) -> Script) -> (Workspace, Langport) {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nalpha\n//- c.rs\nalpha\n//- d.rb\nalpha\n//- e.lua\nbeta\n");
    let mut builder = Langport::builder(&ws)
        .server(Definition::new("good", Script::new()).languages(&["lua"]))
        .config("request_timeout_ms = 240000")
        .max_wait(PATIENT);
    for (name, language, file) in SERVERS {
        builder = builder.server(Definition::new(name, script(&ws, name, file)).languages(&[language]));
    }
    let mut lp = builder.start();
    lp.tolerate();
    lp.hover(&at("e.lua")).verdict_is("fresh").contains("WORD beta");
    (ws, lp)
}

/// What the calls made at once are answered, and that they made langport no larger than one of them may.
fn at_once(lp: &Langport, tool: &str, arguments: impl Fn(&str) -> Value) -> Vec<Answer> {
    let before = procs::peak_kib(lp.pid());
    let calls: Vec<i64> = SERVERS.iter().map(|(_, _, file)| lp.call(tool, &arguments(file))).collect();
    // What is small is answered meanwhile.
    lp.hover(&at("e.lua")).verdict_is("fresh").contains("WORD beta");
    let answers = calls.into_iter().map(|call| Answer::of(&lp.answer(call))).collect();
    let grown = procs::peak_kib(lp.pid()) - before;
    eprintln!("langport has grown by {grown} KiB");
    assert!(grown <= ALLOWED, "langport has grown by {grown} KiB");
    lp.hover(&at("e.lua")).verdict_is("fresh");
    answers
}

fn b3_large_answers_of_several_servers_take_no_more_memory_than_one() {
    for size in [39 << 20, 18 << 20, 60 << 20] {
        let (_ws, lp) = crowd(|_, _, _| Script::new().on("textDocument/hover", [Act::LargeHover(size)]));
        let judge = |answer: &Answer, alone: bool| match size {
            // One at a time each is an answer; of several at once a slow machine names those that it had to drop.
            size if size < 40 << 20 && (alone || answer.verdict() == "fresh") => {
                _ = answer.verdict_is("fresh").contains("long hover");
            }
            _ => _ = answer.fails("failed").contains(if size < 40 << 20 { "large" } else { "MiB" }),
        };
        at_once(&lp, "lsp_hover", at).iter().for_each(|answer| judge(answer, false));
        for (name, _, file) in SERVERS {
            judge(&lp.hover(&at(file)), true);
            assert_eq!(lp.log_of(name).starts(), 1, "{name} goes on");
        }
    }
}

fn b3_large_lists_of_several_servers_take_no_more_memory_than_one() {
    in_pace(large_lists);
}

fn large_lists(pace: &Pace) {
    let (_ws, lp) = crowd(|ws, _, file| {
        let list = list(&ws.uri(file), Some(1), PROBLEMS, 1_000);
        Script::new().publish(Publish::never()).on("textDocument/didOpen", list)
    });
    for answer in at_once(&lp, "lsp_diagnostics", |file| json!({"file_path": file})) {
        // A list for which there is no room within ten seconds, since others come slowly, is dropped, and not sent again.
        pace.lost_if(answer.verdict() == "unanswered");
        // What was not kept is counted.
        answer.verdict_in(&["fresh", "settling", "partial"]).contains("14,000 errors; too many to keep: ");
    }
}

/// A list of so many errors, each with a message of so many bytes, as it comes on the wire: the scripted server would be
/// the slowest of all to make one of this size.
pub(super) fn list(uri: &str, version: Option<i32>, problems: usize, bytes: usize) -> [Act; 3] {
    let place = json!({"line": 0, "character": 1});
    let message = format!("$n {}", "m".repeat(bytes));
    let item = json!({"range": {"start": place, "end": place}, "severity": 1, "message": message}).to_string() + ",";
    let last = r#"{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":1}},"severity":1,"message":"the last"}]}}"#;
    let version = version.map(|version| format!(r#""version":{version},"#)).unwrap_or_default();
    let head = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{{"uri":"{uri}",{version}"diagnostics":["#
    );
    let counted = item.len() + "000000".len() - "$n".len();
    let length = head.len() + (problems - 1) * counted + last.len();
    [
        Act::Raw(format!("Content-Length: {length}\r\n\r\n{head}")),
        Act::RawCounted(item, problems - 1),
        Act::Raw(last.into()),
    ]
}

fn b3_a_large_answer_that_comes_slowly_keeps_nobody_waiting_for_good() {
    let body = |length: usize| frame(&"x".repeat(length));
    let (_ws, lp) = crowd(|_, name, _| match name {
        // It announces all that may be kept, and then says no more.
        "one" => Script::new().on("textDocument/hover", [Act::Raw(body(39 << 20)[..1_000].to_owned())]),
        _ => Script::new().on("textDocument/hover", [Act::LargeHover(30 << 20)]),
    });
    let stuck = lp.call("lsp_hover", &at("a.py"));
    lp.log_of("one").wait("textDocument/hover", 1);
    for (_, _, file) in &SERVERS[1..] {
        lp.hover(&at(file)).verdict_is("fresh").contains("long hover");
    }
    lp.cancel(stuck);
}
