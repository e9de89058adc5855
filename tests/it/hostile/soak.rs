//! Ten thousand calls while servers are killed at random: every call gets a right or a named answer, and langport is
//! afterwards what it was before.

use std::{
    collections::BTreeSet,
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Answer, Definition, Langport, Workspace, eventually, procs},
};

trials![ten_thousand_calls_over_servers_that_are_killed];

const CALLS: usize = 10_000;
/// Callers at once. Each waits for its answer before it asks again.
const CALLERS: usize = 8;
/// After so many calls a server is killed.
const KILL: usize = 250;
/// Far more than it takes: how many calls a machine makes in a second is its own business.
const LONGEST: Duration = Duration::from_secs(900);
/// How often all states are looked at, which is the dearest call of all.
const LOOK: Duration = Duration::from_millis(40);

/// Numbers that look random, the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }
}

/// Open descriptors and threads.
fn holds(pid: u32) -> (usize, usize) {
    let count = |what: &str| fs::read_dir(format!("/proc/{pid}/{what}")).map_or(0, Iterator::count);
    (count("fd"), count("task"))
}

const SERVERS: [(&str, &str, &str, &str); 3] =
    [("one", "python", "a.py", "alpha"), ("two", "go", "b.go", "beta"), ("three", "rust", "c.rs", "gamma")];

fn ten_thousand_calls_over_servers_that_are_killed() {
    let seed = std::env::var("IT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5eed_1234_u64);
    eprintln!("the soak's seed is {seed}: IT_SEED={seed} repeats it");
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n//- c.rs\ngamma\n");
    let mut builder = Langport::builder(&ws).config("restarts = 10000").max_wait(15_000);
    for (name, language, ..) in SERVERS {
        builder = builder.server(Definition::new(name, Script::new()).languages(&[language]));
    }
    let mut lp = builder.start();
    lp.tolerate();
    for (_, _, file, word) in SERVERS {
        lp.hover(&json!({"file_path": file, "line": 1, "column": 1})).verdict_is("fresh").contains(word);
    }
    let before = (holds(lp.pid()), procs::peak_kib(lp.pid()));
    let begun = Instant::now();
    let done = AtomicUsize::new(0);
    let (mut states, mut named, mut kills) = (BTreeSet::new(), 0, 0);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (lp, done) = (&lp, &done);
                let mut random = Random(seed.wrapping_mul(2 * caller as u64 + 3) | 1);
                scope.spawn(move || {
                    let mut named = 0;
                    while done.fetch_add(1, Ordering::Relaxed) < CALLS && begun.elapsed() < LONGEST {
                        named += usize::from(!call(lp, random.next(SERVERS.len()), random.next(10)));
                    }
                    named
                })
            })
            .collect();
        let mut random = Random(seed | 1);
        let mut next = KILL;
        while callers.iter().any(|caller| !caller.is_finished()) {
            if done.load(Ordering::Relaxed) >= next {
                next += KILL;
                let (name, ..) = SERVERS[random.next(SERVERS.len())];
                if let Some(pid) = lp.log_of(name).pids().last().filter(|pid| procs::alive(**pid)) {
                    procs::signal(*pid, libc::SIGKILL);
                    kills += 1;
                }
            }
            states.extend(words(&lp));
            std::thread::sleep(LOOK);
        }
        named = callers.into_iter().map(|caller| caller.join().expect("every call is answered rightly")).sum();
    });
    let took = begun.elapsed();
    assert!(done.load(Ordering::Relaxed) >= CALLS, "only {done:?} calls in {took:?}");
    // The end of the last one and the start of its successor.
    for (_, _, file, word) in SERVERS {
        let healed =
            || Some(lp.hover(&json!({"file_path": file, "line": 1, "column": 1}))).filter(|a| a.verdict() == "fresh");
        eventually("a healthy server", healed).contains(word);
    }
    let leaks = || {
        let now = holds(lp.pid());
        (now.0 <= before.0.0 + 4 && now.1 <= before.0.1 + 4).then_some(())
    };
    eventually("as many descriptors and threads as before", leaks);
    let grown = procs::peak_kib(lp.pid()) - before.1;
    eprintln!("{CALLS} calls in {took:?}, {kills} kills, {named} named answers, {grown} KiB, states {states:?}");
    assert!(grown <= 48 * 1024, "langport has grown by {grown} KiB");
    assert!(kills >= 10, "{kills} kills");
    assert!(named <= kills * CALLERS * 2, "{named} calls without an answer for {kills} kills");
    assert!(states.contains("running") && states.len() > 1, "every state shows: {states:?}");
}

/// One call; whether it was answered. An answer that is neither right nor named is a defect.
fn call(lp: &Langport, server: usize, kind: usize) -> bool {
    let (name, _, file, word) = SERVERS[server];
    let place = json!({"file_path": file, "line": 1, "column": 1});
    let (tool, arguments) = match kind {
        0 => ("diagnostics", json!({"file_path": file})),
        1 => ("symbols", json!({"file_path": file})),
        2 | 3 => ("definition", place),
        _ => ("hover", place),
    };
    let answer: Answer = lp.tool(tool, &arguments);
    if answer.verdict() == "fresh" {
        let right = match tool {
            "hover" => answer.has(word),
            "diagnostics" => answer.has("no problems"),
            _ => !answer.is_error,
        };
        assert!(right && answer.first().contains(name), "{tool}: {answer}");
        return true;
    }
    answer.verdict_in(&["failed", "unavailable", "unanswered", "indexing", "settling", "unconfirmed", "stale"]);
    assert!(answer.has(name), "{tool}: {answer}");
    false
}

/// The states that status shows.
fn words(lp: &Langport) -> BTreeSet<String> {
    let status: Value = lp.answer(lp.call("lsp_status", &json!({})));
    let text = Answer::of(&status).text;
    let known = ["running", "starting", "failed", "stopped", "broken", "indexing", "ready"];
    known.iter().filter(|word| text.contains(**word)).map(|word| (*word).to_owned()).collect()
}
