//! How long an answer about a text that another process has just written takes beyond the server's own time, and
//! whether it is about that text. `cargo bench --bench freshness [ROUNDS]`; it fails where an answer is not fresh.
#![expect(clippy::disallowed_methods, reason = "a measurement starts programs and writes files of its own")]
#![expect(clippy::unwrap_used, reason = "a measurement fails by panicking")]
#![expect(clippy::needless_pass_by_value, reason = "values made by `json!` are handed over")]
#![expect(clippy::print_stdout, reason = "it prints what it measures")]
#![expect(clippy::print_stderr, reason = "a failed measurement shows what both sides saw")]

#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../it/fake/mod.rs"]
mod fake;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../it/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use fake::script::{Act, Publish, Script, Step};
use support::{Definition, Langport, Workspace};

/// One way in which servers tell of problems.
struct Mode {
    name: &'static str,
    /// From the change to the server's answer.
    own: u64,
    definition: fn(Script) -> Definition,
    script: fn(u64) -> Script,
    /// What the wait may be beyond the server's own, at the median.
    allowed: f64,
}

fn plain(script: Script) -> Definition {
    Definition::new("fake", script)
}

fn first(script: Script) -> Definition {
    plain(script).table("[diagnostics]\nfinal = \"first\"")
}

fn push(own: u64, versioned: bool) -> Script {
    Script::new().publish(Publish { versioned, ..Publish::steps([Step::Sleep(own), Step::Full]) })
}

const MODES: [Mode; 6] = [
    Mode { name: "pull, at once", own: 0, definition: plain, script: |_| Script::new().pull(), allowed: 5.0 },
    Mode {
        name: "pull, 100 ms",
        own: 100,
        definition: plain,
        script: |own| Script::new().pull().on("textDocument/diagnostic", [Act::Sleep(own), Act::Default]),
        allowed: 5.0,
    },
    Mode {
        name: "push, the first is final, at once",
        own: 0,
        definition: first,
        script: |own| push(own, true),
        allowed: 5.0,
    },
    Mode {
        name: "push, the first is final, 100 ms",
        own: 100,
        definition: first,
        script: |own| push(own, true),
        allowed: 5.0,
    },
    // Beyond the settle time of 150 ms.
    Mode { name: "push, settling, 100 ms", own: 100, definition: plain, script: |own| push(own, true), allowed: 155.0 },
    Mode {
        name: "push without version, 100 ms",
        own: 100,
        definition: plain,
        script: |own| push(own, false),
        allowed: f64::INFINITY,
    },
];

fn main() {
    if let Some(script) = std::env::var_os(fake::SCRIPT) {
        fake::run(script.as_ref());
    }
    let rounds = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(50);
    println!("{:36} {:>6} {:>10} {:>10}  (ms beyond the server's own)", "", "fresh", "median", "most");
    let mut failed = false;
    for mode in &MODES {
        let (fresh, mut beyond) = measure(mode, rounds);
        beyond.sort_by(f64::total_cmp);
        let median = beyond[beyond.len() / 2];
        let most = beyond.last().unwrap();
        println!("{:36} {fresh:>3}/{rounds:<2} {median:>10.1} {most:>10.1}", mode.name);
        failed |= fresh < rounds || median > mode.allowed;
    }
    if failed {
        eprintln!("an answer was not fresh, or the median wait is longer than it may be");
        std::process::exit(1);
    }
}

fn measure(mode: &Mode, rounds: usize) -> (usize, Vec<f64>) {
    let ws = Workspace::new("//- a.py\nx = ERR begin\n");
    let definition = (mode.definition)((mode.script)(mode.own));
    let lp = Langport::builder(&ws).server(definition).start();
    lp.diagnostics("a.py").verdict_is("fresh");
    let own = Duration::from_millis(mode.own).as_secs_f64() * 1e3;
    let (mut fresh, mut beyond) = (0, Vec::new());
    for round in 0..rounds {
        let word = format!("word_{round}_");
        ws.write("a.py", &format!("x = ERR {word}\n"));
        let asked = Instant::now();
        let answer = lp.diagnostics("a.py");
        beyond.push(asked.elapsed().as_secs_f64() * 1e3 - own);
        fresh += usize::from(answer.verdict() == "fresh" && answer.has(&word));
        assert!(answer.verdict() != "fresh" || answer.has(&word), "{}: called fresh and wrong\n{answer}", mode.name);
    }
    (fresh, beyond)
}
