//! What is said of a change that was made when its server dies or hangs right after it: never that all is well.

use crate::{
    changes::{SHOP, apply, rename, undo},
    fake::script::{Act, Publish, Script},
    support::{Answer, Definition, Langport, Pace, Workspace, in_pace},
};

trials![
    dia_02_a_server_that_dies_after_a_change_is_named,
    dia_02_a_server_that_hangs_after_a_change_leaves_it_unanswered,
    dia_02_silence_after_a_change_is_not_confirmed,
    dia_02_a_server_that_comes_back_after_a_change_answers,
    dia_02_one_of_two_servers_dies_after_a_change,
    dia_02_nobody_to_look_is_no_clean_bill,
];

fn start(ws: &Workspace, script: Script) -> Langport {
    let mut lp = Langport::builder(ws).server(Definition::new("fake", script)).max_wait(6_000).start();
    lp.tolerate();
    lp
}

/// The change is made, and is not called clean.
fn made(ws: &Workspace, lp: &Langport, pace: &Pace) -> Answer {
    let answer = apply(lp, &rename(lp, "lib.py", 1, "tally", "total").plan());
    // A server that has pushed at once so far, and lives on for as long as nobody lets it have its turn, is silent.
    pace.lost_if(answer.verdict() == "unconfirmed");
    answer.fine().contains("2 files changed").lacks("no new problems").lacks("no problems");
    assert_ne!(answer.verdict(), "fresh", "{answer}");
    assert!(ws.read("use.py").contains("total"), "the change stays made");
    answer
}

/// Dies at the change, and again whenever it is told of a file.
fn dying(script: Script) -> Script {
    let again = [Act::Starts(2, 99), Act::Exit(3)];
    script
        .on("textDocument/didChange", [Act::Stderr("out of cheese".into(), 1), Act::Exit(3)])
        .on("textDocument/didOpen", again)
}

fn dia_02_a_server_that_dies_after_a_change_is_named() {
    for script in [Script::new().pull(), Script::new()] {
        in_pace(|pace| {
            let ws = Workspace::new(SHOP);
            let lp = start(&ws, dying(script.clone()));
            let answer = made(&ws, &lp, pace);
            answer.verdict_is("unanswered").contains("the servers have not analysed all of it yet").contains("fake");
            let body = answer.body();
            assert!(body.contains("lib.py") && body.contains("use.py"), "each file is named: {answer}");
        });
    }
}

fn dia_02_a_server_that_hangs_after_a_change_leaves_it_unanswered() {
    let ws = Workspace::new(SHOP);
    // Each file is pulled once before the change.
    let turns = [vec![Act::Default], vec![Act::Default], vec![]];
    let lp = start(&ws, Script::new().pull().each("textDocument/diagnostic", turns));
    let answer = made(&ws, &lp, &Pace::default());
    answer.verdict_is("unanswered");
    assert!(answer.body().contains("unanswered (fake): lib.py, use.py"), "{answer}");
    // It can be taken back, with no better word.
    undo(&lp, answer.first().rsplit("undo ").next().unwrap_or_default()).fine().lacks("no problems").lacks("fresh");
}

fn dia_02_silence_after_a_change_is_not_confirmed() {
    let ws = Workspace::new(SHOP);
    let publish = Publish { on_change: false, ..Publish::default() };
    let lp = start(&ws, Script::new().publish(publish));
    let answer = apply(&lp, &rename(&lp, "lib.py", 1, "tally", "total").plan());
    answer.fine().verdict_in(&["unconfirmed", "stale", "unanswered"]).lacks("fresh");
    if answer.verdict() == "unconfirmed" {
        answer.contains("no new problems heard of, not confirmed since the change");
    } else {
        answer.lacks("no new problems");
    }
    assert!(answer.body().contains("lib.py") && answer.body().contains("use.py"), "each file is named: {answer}");
}

fn dia_02_a_server_that_comes_back_after_a_change_answers() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, Script::new().pull().on("textDocument/didChange", [Act::FirstStarts(1), Act::Exit(3)]));
    let answer = apply(&lp, &rename(&lp, "lib.py", 1, "tally", "total").plan());
    answer.fine().verdict_is("fresh").contains("no new problems");
    assert_eq!(lp.log().starts(), 2);
}

fn dia_02_one_of_two_servers_dies_after_a_change() {
    let ws = Workspace::new(SHOP);
    let linter = Definition::new("linter", dying(Script::new().pull())).key("role = \"linter\"");
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::new().pull()))
        .server(linter)
        .max_wait(6_000)
        .start();
    lp.tolerate();
    made(&ws, &lp, &Pace::default()).verdict_is("partial").contains("linter");
}

fn dia_02_nobody_to_look_is_no_clean_bill() {
    let ws = Workspace::new(SHOP);
    let definition = Definition::new("fake", Script::new()).key("capabilities = [\"rename\", \"hover\"]");
    let lp = Langport::builder(&ws).server(definition).start();
    let answer = made(&ws, &lp, &Pace::default());
    answer.verdict_is("unanswered").contains("no server was there to look for problems");
}
