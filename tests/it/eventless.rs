//! The same promises where the file system tells nothing: events switched off, and a FUSE file system that is written
//! through another path.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Publish, Script, Step},
    support::{Answer, Definition, Langport, Workspace, eventually},
};

/// How changes are found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    Events,
    Off,
    Fuse,
}

/// A folder on FUSE, and the same folder beside it.
struct Mount {
    top: tempfile::TempDir,
}

impl Mount {
    fn new() -> Self {
        let top = tempfile::Builder::new().prefix("mounted-").tempdir().expect("a temporary folder");
        for name in ["real", "seen"] {
            std::fs::create_dir(top.path().join(name)).expect("a folder");
        }
        let mut command = Command::new("bindfs");
        // Without a cache of its own: what others write is seen at once, as far as anybody looks.
        command.args(["-o", "attr_timeout=0,entry_timeout=0,negative_timeout=0"]);
        command.arg(top.path().join("real")).arg(top.path().join("seen"));
        let made = command.output().expect("bindfs starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self { top }
    }

    fn seen(&self) -> PathBuf {
        self.top.path().join("seen")
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("fusermount3").arg("-u").arg(self.seen()).status();
    }
}

/// Why there is no FUSE here.
pub(crate) fn missing() -> Option<&'static str> {
    static MISSING: OnceLock<Option<&'static str>> = OnceLock::new();
    *MISSING.get_or_init(|| {
        let on_path = |name: &str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
        };
        if !on_path("bindfs") || !on_path("fusermount3") {
            return Some("bindfs and fuse3 are not installed");
        }
        let probe = tempfile::tempdir().ok()?;
        let (real, seen) = (probe.path().join("real"), probe.path().join("seen"));
        std::fs::create_dir(&real).and_then(|()| std::fs::create_dir(&seen)).ok()?;
        let mounted = Command::new("bindfs").arg(&real).arg(&seen).output().is_ok_and(|made| made.status.success());
        let _ = Command::new("fusermount3").arg("-u").arg(&seen).output();
        (!mounted).then_some("FUSE cannot be mounted here")
    })
}

/// What this machine cannot run.
pub(crate) fn not_run() -> Option<String> {
    missing().map(|why| format!("not run: the tests on a FUSE file system ({why})"))
}

type Body = fn(&World);

/// Where a test happens: langport sees `ws`, others write into `beside`.
struct World {
    ws: Workspace,
    beside: Workspace,
    ground: Ground,
    _mount: Option<Mount>,
}

impl World {
    fn new(ground: Ground, fixture: &str) -> Self {
        let mount = (ground == Ground::Fuse).then(Mount::new);
        let (ws, beside) = match &mount {
            Some(mount) => {
                let beside = Workspace::inside(&mount.top.path().join("real"), fixture);
                (Workspace::inside(&mount.seen(), ""), beside)
            }
            None => {
                let ws = Workspace::new(fixture);
                let beside = Workspace::inside(ws.root(), "");
                (ws, beside)
            }
        };
        Self { ws, beside, ground, _mount: mount }
    }

    fn start(&self, script: Script) -> Langport {
        let mut builder = Langport::builder(&self.ws).server(Definition::new("fake", script));
        if self.ground == Ground::Off {
            builder = builder.config("watch_events = false");
        }
        // A loaded machine may need more than the usual moment to look at all files.
        let lp = builder.config("barrier_ms = 5000").start();
        if self.ground != Ground::Events {
            let compared = || lp.tool("status", &json!({})).has("files are compared on each call").then_some(());
            eventually("files are compared", compared);
        }
        lp
    }
}

const FIXTURE: &str =
    "//- use.py\nNEEDS tally\n//- lib.py\n# LACKING! tally\n//- core.py\ndef hub(): pass\n//- deep/a/b.py\nhub()\n";

pub(crate) fn trials() -> Vec<Trial> {
    let bodies: [(&str, Body); 6] = [
        ("syn_01_open_files_are_never_frozen", open_files_are_never_frozen),
        ("syn_02_syn_03_files_that_are_not_open", files_that_are_not_open),
        ("x3_what_is_told", what_is_told),
        ("two_writers_while_asking", two_writers_while_asking),
        ("a_write_in_the_middle_of_a_request", a_write_in_the_middle_of_a_request),
        ("writes_faster_than_the_analysis", writes_faster_than_the_analysis),
    ];
    let mut trials = Vec::new();
    for (name, body) in bodies {
        for (ground, word) in [(Ground::Events, "events"), (Ground::Off, "switched_off"), (Ground::Fuse, "fuse")] {
            let run = move || {
                body(&World::new(ground, FIXTURE));
                Ok(())
            };
            let skipped = ground == Ground::Fuse && missing().is_some();
            trials.push(Trial::test(format!("eventless::{name}::{word}"), run).with_ignored_flag(skipped));
        }
    }
    trials
}

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn open_files_are_never_frozen(world: &World) {
    let lp = world.start(Script::watching("**/*"));
    for round in 0..6 {
        world.beside.write("use.py", &format!("w{round} = ERR\n"));
        lp.diagnostics("use.py").says("fresh · fake · 1 error").contains(&format!("w{round}"));
        world.beside.replace("use.py", &format!("v{round}\n"));
        lp.hover(&at("use.py")).verdict_is("fresh").contains(&format!("WORD v{round}"));
        lp.diagnostics("use.py").says("fresh · fake · no problems");
    }
}

/// Changed, with neither size nor (in one of the ways) time telling; made; deleted; whole folders of them.
fn files_that_are_not_open(world: &World) {
    let texts = ["# LACKING! tally\n", "# PROVIDES tally\n"];
    let lp = world.start(Script::watching("**/*.py").pull());
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
    for round in 0..12 {
        let (text, path) = (texts[(round + 1) % 2], world.beside.path("lib.py"));
        match round / 2 % 3 {
            0 => world.beside.write("lib.py", text),
            1 => world.beside.replace("lib.py", text),
            _ => {
                let before = std::fs::metadata(&path).unwrap().modified().unwrap();
                world.beside.write("lib.py", text);
                std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
            }
        }
        let expected = if round % 2 == 0 { "fresh · fake · no problems" } else { "fresh · fake · 1 error" };
        lp.diagnostics("use.py").says(expected);
    }
    let hub = json!({"file_path": "core.py", "symbol": "hub"});
    let count = || lp.tool("references", &hub).verdict_is("fresh").places().len();
    assert_eq!(count(), 2);
    for n in 0..4 {
        world.beside.write(&format!("new{n}/deep/er.py"), "hub()\n");
        assert_eq!(count(), 3 + n);
    }
    std::fs::rename(world.beside.path("new0"), world.beside.path("moved")).unwrap();
    assert_eq!(count(), 6);
    std::fs::remove_dir_all(world.beside.path("moved")).unwrap();
    world.beside.remove("new1/deep/er.py");
    assert_eq!(count(), 4);
    assert_eq!(lp.log().count("textDocument/didOpen"), 2, "only what was asked about is open");
}

fn what_is_told(world: &World) {
    let lp = world.start(Script::watching("**/*.py"));
    // Until then what is ignored is not left out yet.
    eventually("the watch is set up", || (!lp.tool("status", &json!({})).has("setting up")).then_some(()));
    std::fs::create_dir_all(world.beside.path("out")).unwrap();
    world.beside.write(".gitignore", "out/\n");
    lp.hover(&at("use.py")).verdict_is("fresh");
    world.beside.write("out/x.py", "ignored\n");
    world.beside.write("new.py", "x\n");
    world.beside.write("lib.py", "changed\n");
    world.beside.write("note.txt", "nobody asked\n");
    std::fs::remove_dir_all(world.beside.path("deep")).unwrap();
    lp.hover(&at("use.py")).verdict_is("fresh");
    // Changes are told without a question, too: one that is told of before it is finished is told of once more.
    let mut told: BTreeMap<String, i64> = BTreeMap::new();
    for note in lp.log().of("workspace/didChangeWatchedFiles") {
        for change in note["changes"].as_array().unwrap() {
            let path = change["uri"]
                .as_str()
                .unwrap()
                .strip_prefix(&world.ws.uri(""))
                .unwrap()
                .trim_start_matches('/')
                .to_owned();
            let kind = change["type"].as_i64().unwrap();
            let first = *told.entry(path.clone()).or_insert(kind);
            assert!(kind == first || (first, kind) == (1, 2), "{path}: {first}, then {kind}");
        }
    }
    let expected = [("deep/a/b.py", 3), ("lib.py", 2), ("new.py", 1)].map(|(path, kind)| (path.to_owned(), kind));
    assert_eq!(told.into_iter().collect::<Vec<_>>(), expected);
}

fn two_writers_while_asking(world: &World) {
    let lp = world.start(Script::watching("**/*.py").pull());
    lp.hover(&at("use.py")).verdict_is("fresh");
    std::thread::scope(|scope| {
        for hand in 0..2 {
            let (lp, beside) = (&lp, &world.beside);
            scope.spawn(move || {
                for round in 0..8 {
                    let (file, word) = (format!("hand{hand}.py"), format!("w{hand}_{round}"));
                    beside.write(&file, &format!("{word} = ERR\nNEEDS thing{hand}\n"));
                    lp.diagnostics(&file).says("fresh · fake · 2 errors").contains(&word);
                    // What it needs comes from a file that is never open.
                    beside.write(&format!("thing{hand}.py"), &format!("# PROVIDES thing{hand}\n"));
                    lp.diagnostics(&file).says("fresh · fake · 1 error").contains(&word);
                    beside.remove(&format!("thing{hand}.py"));
                }
            });
        }
    });
}

fn a_write_in_the_middle_of_a_request(world: &World) {
    let gate = world.ws.gate("answer");
    let turns = [vec![Act::Default], vec![Act::Await(gate), Act::Default], vec![Act::Default]];
    let lp = world.start(Script::watching("**/*").pull().each("textDocument/diagnostic", turns));
    world.beside.write("use.py", "first = ERR\n");
    lp.diagnostics("use.py").says("fresh · fake · 1 error").contains("first");
    let call = lp.call("lsp_diagnostics", &json!({"file_path": "use.py"}));
    lp.log().wait("textDocument/diagnostic", 2);
    world.beside.write("use.py", "second = ERR\nthird = ERR\n");
    world.ws.open("answer");
    Answer::of(&lp.answer(call)).says("fresh · fake · 2 errors").contains("second").lacks("first");
    lp.hover(&at("use.py")).verdict_is("fresh").contains("WORD second");
}

/// Nothing older than what was on disk when it was asked is called fresh, and the last word is about the last bytes.
fn writes_faster_than_the_analysis(world: &World) {
    let slow = Publish::steps([Step::Sleep(60), Step::Full]);
    // The writer's temporary files are no business of the server's.
    let lp = world.start(Script::watching("**/*.py").publish(slow));
    let (written, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    world.beside.write("use.py", "w0_ = ERR\n");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            for n in 1.. {
                world.beside.replace("use.py", &format!("w{n}_ = ERR\n"));
                written.store(n, Ordering::SeqCst);
                if n > 20 && begun.elapsed() > Duration::from_secs(2) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(15));
            }
            over.store(true, Ordering::SeqCst);
        });
        while !over.load(Ordering::SeqCst) {
            let asked = written.load(Ordering::SeqCst);
            let answer = lp.diagnostics("use.py");
            let of =
                answer.text.split_once("error: w").and_then(|(_, rest)| rest.split_once('_')?.0.parse::<usize>().ok());
            if answer.verdict() == "fresh" {
                assert!(of.is_some_and(|of| of >= asked), "asked after {asked}: {answer}");
            }
        }
    });
    let last = written.load(Ordering::SeqCst);
    lp.diagnostics("use.py").says("fresh · fake · 1 error").contains(&format!("w{last}_"));
    assert!(last > 20, "{last} writes");
}
