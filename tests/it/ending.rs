//! langport never outlives its client, and nothing outlives langport.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{BUSY, Definition, Langport, Log, PATIENCE, Workspace, eventually, procs, within},
};

trials![
    lif_05_the_end_of_stdin_ends_it,
    lif_05_a_client_that_is_gone_ends_it,
    lif_05_sigterm_ends_it,
    lif_05_sigint_ends_it,
    lif_05_sighup_ends_it,
    lif_05_a_killed_langport_leaves_nothing,
    lif_05_a_killed_langport_leaves_nothing_of_the_worst_servers,
    lif_05_servers_that_ignore_everything_are_ended,
    lif_05_grandchildren_are_ended,
    lif_05_a_dead_server_takes_its_grandchildren_along,
    lif_05_a_killed_langport_leaves_nothing_in_any_phase,
    lif_05_a_killed_watchdog_leaves_nothing,
    lif_05_the_end_of_stdin_while_a_server_starts_is_quick,
    lif_05_a_killed_parent_ends_it,
    lif_05_the_end_of_stdin_ends_it_with_answers_unread,
];

/// What langport is doing when its end comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Nothing,
    Asking,
    /// The server runs, and has read nothing.
    Spawning,
    Starting,
    /// The handshake is over, the project is not loaded.
    Loading,
    WritingToNobody,
    ShuttingDown,
}

const ALL: [Doing; 4] = [Doing::Nothing, Doing::Asking, Doing::Starting, Doing::WritingToNobody];

/// Where temporary files lie.
fn temporary(ws: &Workspace) -> std::path::PathBuf {
    ws.home().join("t")
}

/// Folders for temporary files of a server's own.
fn folders(ws: &Workspace) -> Vec<String> {
    let entries = std::fs::read_dir(temporary(ws)).unwrap();
    entries.map(|e| e.unwrap().file_name().into_string().unwrap()).filter(|n| n.starts_with("langport-")).collect()
}

/// A langport whose pipes the test holds itself.
struct Bare {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    log: Log,
    mark: String,
}

/// langport's command, with a server that does not let it get beyond that.
fn prepared(ws: &Workspace, doing: Doing, script: Script) -> (Command, Log) {
    let method = match doing {
        Doing::Spawning => "start",
        Doing::Starting | Doing::Loading => "initialize",
        Doing::ShuttingDown => "shutdown",
        _ => "textDocument/definition",
    };
    let script = match doing {
        Doing::Loading => script.on("shutdown", []),
        _ => script.on(method, [Act::Await(ws.gate("never"))]),
    };
    let mut definition = Definition::new("fake", script);
    if doing == Doing::Loading {
        definition = definition.table("[ready]\nlog = \"^never$\"");
    }
    let (command, mut logs) = Langport::builder(ws).server(definition).command();
    (command, logs.remove(0).1)
}

const HELLO: &str =
    r#"{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}"#;

impl Bare {
    fn new(ws: &Workspace, doing: Doing, script: Script) -> Self {
        let (mut command, log) = prepared(ws, doing, script);
        std::fs::create_dir_all(temporary(ws)).unwrap();
        command.env("TMPDIR", temporary(ws));
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let mut bare = Self { child, input, output, log, mark: ws.mark_text() };
        bare.ask(1, "initialize", serde_json::from_str(HELLO).unwrap());
        bare.answer();
        bare.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let place = json!({"file_path": "a.py", "line": 1, "column": 1});
        match doing {
            Doing::Spawning => {
                bare.ask(2, "tools/call", json!({"name": "lsp_hover", "arguments": place}));
                bare.log.wait_event("start", 1);
            }
            Doing::Loading => {
                bare.ask(2, "tools/call", json!({"name": "lsp_references", "arguments": place}));
                bare.log.wait("initialized", 1);
            }
            Doing::Starting => {
                bare.ask(2, "tools/call", json!({"name": "lsp_hover", "arguments": place}));
                bare.log.wait("initialize", 1);
            }
            Doing::Nothing => bare.ready(&place),
            Doing::Asking => {
                bare.ready(&place);
                bare.ask(3, "tools/call", json!({"name": "lsp_definition", "arguments": place}));
                bare.log.wait("textDocument/definition", 1);
            }
            Doing::ShuttingDown => {
                bare.ready(&place);
                bare.input = None;
                bare.log.wait("shutdown", 1);
            }
            Doing::WritingToNobody => {
                bare.ready(&place);
                bare.output = None;
                bare.ask(3, "tools/call", json!({"name": "lsp_hover", "arguments": place}));
                bare.log.wait("textDocument/hover", 2);
            }
        }
        bare
    }

    fn ready(&mut self, place: &Value) {
        self.ask(2, "tools/call", json!({"name": "lsp_hover", "arguments": place}));
        self.answer();
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let _ = self.input.as_mut().unwrap().write_all(line.as_bytes());
    }

    fn ask(&mut self, id: i64, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn answer(&mut self) {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.as_mut().unwrap().read_line(&mut line).unwrap() > 0, "langport is gone");
            if line.contains("\"id\"") {
                return;
            }
        }
    }

    /// Requires that langport and everything that it started go.
    fn goes(mut self, why: &str, codes: &[i32]) {
        let status = within(Duration::from_secs(5) + BUSY, || self.child.try_wait().unwrap());
        let mut left = Vec::new();
        let clean = within(BUSY, || {
            left = procs::marked(&self.mark).into_iter().collect();
            left.is_empty().then_some(())
        });
        if status.is_none() || clean.is_none() {
            for pid in procs::marked(&self.mark).into_keys() {
                procs::signal(pid, libc::SIGKILL);
            }
            let _ = self.child.wait();
        }
        let status = status.unwrap_or_else(|| panic!("{why}: langport is still there"));
        assert!(clean.is_some(), "{why}: left behind {left:?}");
        assert!(codes.is_empty() || status.code().is_some_and(|c| codes.contains(&c)), "{why}: {status:?}");
    }
}

fn matrix(why: &str, codes: &[i32], end: impl Fn(&mut Bare)) {
    for doing in ALL {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let mut bare = Bare::new(&ws, doing, Script::new());
        end(&mut bare);
        bare.goes(&format!("{why} while {doing:?}"), codes);
    }
}

fn lif_05_the_end_of_stdin_ends_it() {
    matrix("end of stdin", &[0], |bare| drop(bare.input.take()));
}

fn lif_05_a_client_that_is_gone_ends_it() {
    matrix("client gone", &[], |bare| {
        bare.output.take();
        bare.input.take();
    });
}

fn lif_05_sigterm_ends_it() {
    matrix("SIGTERM", &[0], |bare| procs::signal(bare.child.id(), libc::SIGTERM));
}

fn lif_05_sigint_ends_it() {
    matrix("SIGINT", &[], |bare| procs::signal(bare.child.id(), libc::SIGINT));
}

fn lif_05_sighup_ends_it() {
    matrix("SIGHUP", &[], |bare| procs::signal(bare.child.id(), libc::SIGHUP));
}

fn lif_05_a_killed_langport_leaves_nothing() {
    matrix("SIGKILL", &[], |bare| procs::signal(bare.child.id(), libc::SIGKILL));
}

/// Deaf, with a grandchild in a session of its own and a daemon; whatever langport was about to do with it.
fn lif_05_a_killed_langport_leaves_nothing_of_the_worst_servers() {
    for doing in [Doing::Starting, Doing::Nothing, Doing::Asking, Doing::ShuttingDown] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let script = Script { ignore_term: true, ignore_exit: true, ..Script::new() };
        let mut bare = Bare::new(&ws, doing, script.on("start", [Act::Grandchild, Act::Daemon]));
        for sleeper in ["sleep 600", "sleep 700"] {
            let runs = || procs::marked(&bare.mark).values().any(|c| c.trim_end() == sleeper).then_some(());
            eventually(sleeper, runs);
        }
        assert!(bare.child.try_wait().unwrap().is_none(), "langport still runs while {doing:?}");
        procs::signal(bare.child.id(), libc::SIGKILL);
        bare.goes(&format!("SIGKILL, the worst server, while {doing:?}"), &[]);
    }
}

fn lif_05_servers_that_ignore_everything_are_ended() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script { ignore_term: true, ignore_exit: true, ..Script::new().on("shutdown", []) };
    let mut lp = Langport::with(&ws, script);
    lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).fine();
    assert_eq!(lp.hang_up().and_then(|s| s.code()), Some(0), "within the time for a shutdown in all");
    assert_eq!(lp.left(), []);
}

fn grandchild() -> Script {
    Script::new().on("initialized", [Act::Grandchild])
}

fn lif_05_grandchildren_are_ended() {
    for kill in [false, true] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let mut lp = Langport::with(&ws, grandchild());
        lp.tolerate();
        lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).fine();
        lp.log().wait_event("grandchild", 1);
        eventually("a grandchild", || {
            procs::marked(&ws.mark_text()).values().any(|c| c.contains("sleep 600")).then_some(())
        });
        if kill {
            procs::signal(lp.pid(), libc::SIGKILL);
            assert!(lp.gone_within(BUSY).is_some());
        } else {
            assert!(lp.hang_up().is_some());
        }
        assert_eq!(lp.left(), [], "killed: {kill}");
    }
}

fn lif_05_a_dead_server_takes_its_grandchildren_along() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let mut lp = Langport::with(&ws, grandchild());
    lp.tolerate();
    let place = json!({"file_path": "a.py", "line": 1, "column": 1});
    lp.hover(&place).fine();
    let sleepers =
        || procs::marked(&ws.mark_text()).into_iter().filter(|(_, c)| c.contains("sleep 600")).map(|(p, _)| p);
    let first: Vec<u32> = eventually("a grandchild", || Some(sleepers().collect::<Vec<_>>()).filter(|s| !s.is_empty()));
    procs::signal(lp.log().pids()[0], libc::SIGKILL);
    eventually("the end of the grandchild", || (!procs::alive(first[0])).then_some(()));
    lp.hover(&place).fine();
}

/// From the moment that its process is there to the one in which it has been told to end.
fn lif_05_a_killed_langport_leaves_nothing_in_any_phase() {
    for doing in [Doing::Spawning, Doing::Starting, Doing::Loading, Doing::Nothing, Doing::ShuttingDown] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let bare = Bare::new(&ws, doing, Script { ignore_term: true, ignore_exit: true, ..Script::new() });
        assert_eq!(folders(&ws).len(), 1, "a folder for temporary files while {doing:?}");
        procs::signal(bare.child.id(), libc::SIGKILL);
        bare.goes(&format!("SIGKILL while {doing:?}"), &[]);
        eventually("the end of its temporary files", || folders(&ws).is_empty().then_some(()));
    }
}

/// The one who watches is killed: langport itself ends what the server has started, and starts the next.
fn lif_05_a_killed_watchdog_leaves_nothing() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script { ignore_term: true, ..Script::new() };
    let script = script.on("start", [Act::Grandchild, Act::Daemon, Act::FirstStarts(1)]);
    let mut lp = Langport::with(&ws, script);
    lp.tolerate();
    let place = json!({"file_path": "a.py", "line": 1, "column": 1});
    lp.hover(&place).verdict_is("fresh");
    let running = |command: &str| -> Vec<u32> {
        procs::marked(&ws.mark_text()).into_iter().filter(|(_, c)| c.contains(command)).map(|(pid, _)| pid).collect()
    };
    let sleepers: Vec<u32> = ["sleep 600", "sleep 700"]
        .iter()
        .flat_map(|sleeper| eventually(sleeper, || Some(running(sleeper)).filter(|found| !found.is_empty())))
        .collect();
    let watchdog = running("__watchdog");
    assert_eq!(watchdog.len(), 1);
    procs::signal(watchdog[0], libc::SIGKILL);
    let gone = within(BUSY, || (!sleepers.iter().any(|pid| procs::alive(*pid))).then_some(()));
    assert!(gone.is_some(), "{:?}", procs::marked(&ws.mark_text()));
    let healed = within(PATIENCE, || Some(lp.hover(&place)).filter(|answer| answer.verdict() == "fresh"));
    assert!(healed.is_some());
    assert_eq!(lp.log().starts(), 2);
}

fn lif_05_the_end_of_stdin_while_a_server_starts_is_quick() {
    for doing in [Doing::Spawning, Doing::Starting, Doing::Loading] {
        // One that is not loading gets three seconds at the least.
        let (mut took, quick) = (Vec::new(), Duration::from_millis(2_500));
        while took.last().is_none_or(|took| *took >= quick) {
            assert!(took.len() < 8, "{took:?} while {doing:?}");
            let ws = Workspace::new("//- a.py\nalpha\n");
            let mut bare = Bare::new(&ws, doing, Script { ignore_term: true, ignore_exit: true, ..Script::new() });
            let begun = std::time::Instant::now();
            drop(bare.input.take());
            bare.goes(&format!("end of stdin while {doing:?}"), &[0]);
            took.push(begun.elapsed());
            assert_eq!(folders(&ws), Vec::<String>::new());
        }
    }
}

/// The client is a process of its own, and is killed: nobody but it had the other end of langport's stdin.
fn lif_05_a_killed_parent_ends_it() {
    for doing in ALL {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let (langport, log) = prepared(&ws, doing, Script::new());
        let asks: &[&str] = match doing {
            Doing::Asking => &["lsp_hover", "lsp_definition"],
            Doing::WritingToNobody => &["lsp_hover", "lsp_hover"],
            _ => &["lsp_hover"],
        };
        let hello: Value = serde_json::from_str(HELLO).unwrap();
        let mut lines = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).to_string();
        lines += "\n{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n";
        for (number, tool) in asks.iter().enumerate() {
            let params = json!({"name": tool, "arguments": {"file_path": "a.py", "line": 1, "column": 1}});
            let call = json!({"jsonrpc": "2.0", "id": number + 2, "method": "tools/call", "params": params});
            lines += &format!("{call}\n");
        }
        std::fs::write(ws.home().join("lines"), lines).unwrap();
        let sink = if doing == Doing::WritingToNobody { "| head -n 2 > out" } else { "> out" };
        let client = format!("mkfifo in\n\"$@\" < in 2> stderr {sink} &\nexec 3> in\ncat lines >&3\nread hold\n");
        let envs = langport.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let mut parent = Command::new("sh")
            .args(["-c", &client, "sh"])
            .arg(langport.get_program())
            .args(langport.get_args())
            .current_dir(ws.home())
            .env_clear()
            .envs(envs)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        match doing {
            Doing::Asking => _ = log.wait("textDocument/definition", 1),
            Doing::Starting => _ = log.wait("initialize", 1),
            Doing::WritingToNobody => _ = log.wait("textDocument/hover", 2),
            _ => eventually("an answer", || {
                std::fs::read_to_string(ws.home().join("out")).is_ok_and(|out| out.contains("\"id\":2")).then_some(())
            }),
        }
        procs::signal(parent.id(), libc::SIGKILL);
        parent.wait().unwrap();
        let mut left = Vec::new();
        let clean = within(Duration::from_secs(5) + BUSY, || {
            left = procs::marked(&ws.mark_text()).into_iter().collect();
            left.is_empty().then_some(())
        });
        left.iter().for_each(|(pid, _)| procs::signal(*pid, libc::SIGKILL));
        assert!(clean.is_some(), "left behind by a killed client while {doing:?}: {left:?}");
    }
}

/// More answers than the pipe holds, and a client that waits for the end instead of reading them.
fn lif_05_the_end_of_stdin_ends_it_with_answers_unread() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let mut bare = Bare::new(&ws, Doing::Nothing, Script::new());
    (0..60).for_each(|n| bare.ask(100 + n, "tools/list", json!({})));
    drop(bare.input.take());
    let unread = bare.output.take();
    bare.goes("end of stdin with answers unread", &[0]);
    drop(unread);
}
