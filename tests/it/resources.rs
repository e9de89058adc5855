//! Resources and what their subscribers are told when somebody else changes files.

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Definition, Era, Langport, Workspace, eventually},
};

trials![
    a_subscriber_hears_of_a_change_and_reads_the_new_problems,
    a_subscriber_of_the_modern_era_hears_of_it_too,
    a_subscriber_of_the_status_hears_of_a_death,
    a_change_that_leaves_the_problems_alone_is_not_told,
];

const FILE: &str = "langport://diagnostics/a.py";
const STATUS: &str = "langport://status";
const UPDATED: &str = "notifications/resources/updated";

fn read(lp: &Langport, uri: &str) -> String {
    let answer = lp.request("resources/read", json!({"uri": uri}));
    answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Waits until that many updates of an address have come.
#[track_caller]
fn updates(lp: &Langport, uri: &str, number: usize) -> Vec<Value> {
    eventually("an update", || {
        let all: Vec<Value> = lp.notes(UPDATED).into_iter().filter(|note| note["params"]["uri"] == uri).collect();
        (all.len() >= number).then_some(all)
    })
}

fn a_subscriber_hears_of_a_change_and_reads_the_new_problems() {
    for script in [Script::new(), Script::new().pull()] {
        let ws = Workspace::new("//- a.py\nx = 1\n");
        let lp = Langport::with(&ws, script);
        lp.request("resources/subscribe", json!({"uri": FILE}));
        assert_eq!(read(&lp, FILE).lines().next(), Some("fresh · fake · no problems"));
        ws.write("a.py", "x = ERR\n");
        updates(&lp, FILE, 1);
        assert_eq!(read(&lp, FILE).lines().next(), Some("fresh · fake · 1 error"));
        ws.write("a.py", "x = 2\n");
        updates(&lp, FILE, 2);
        assert_eq!(read(&lp, FILE).lines().next(), Some("fresh · fake · no problems"));
    }
}

fn a_subscriber_of_the_modern_era_hears_of_it_too() {
    let ws = Workspace::new("//- a.py\nx = 1\n");
    let server = Definition::new("fake", Script::new().pull());
    let lp = Langport::builder(&ws).server(server).era(Era::Modern).start();
    let filter = json!({"resourceSubscriptions": [FILE]});
    let id = lp.send("subscriptions/listen", json!({"notifications": filter}));
    eventually("the acknowledgement", || lp.notes("notifications/subscriptions/acknowledged").pop());
    read(&lp, FILE);
    ws.write("a.py", "x = ERR\n");
    let update = updates(&lp, FILE, 1).remove(0);
    assert_eq!(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(id), "{update}");
    assert_eq!(read(&lp, FILE).lines().next(), Some("fresh · fake · 1 error"));
}

fn a_subscriber_of_the_status_hears_of_a_death() {
    let ws = Workspace::new("//- a.py\nx = 1\n");
    let mut lp = Langport::with(&ws, Script::new());
    lp.tolerate();
    lp.request("resources/subscribe", json!({"uri": STATUS}));
    lp.diagnostics("a.py").verdict_is("fresh");
    updates(&lp, STATUS, 1);
    let before = lp.notes(UPDATED).len();
    let pid = lp.log().pids()[0];
    crate::support::procs::signal(pid, libc::SIGKILL);
    updates(&lp, STATUS, before + 1);
    assert!(read(&lp, STATUS).contains("failed"), "{}", read(&lp, STATUS));
}

fn a_change_that_leaves_the_problems_alone_is_not_told() {
    let ws = Workspace::new("//- a.py\nNEEDS w\n//- b.py\ny = 1\n");
    let lp = Langport::with(&ws, Script::new().pull());
    // A server that starts is news of its own.
    lp.diagnostics("a.py").verdict_is("fresh");
    for file in [FILE, "langport://diagnostics/b.py"] {
        lp.request("resources/subscribe", json!({"uri": file}));
        read(&lp, file);
    }
    ws.write("a.py", "NEEDS w\nmore = 1\n");
    ws.write("b.py", "y = ERR\n");
    // Both have been asked anew when this one is told.
    updates(&lp, "langport://diagnostics/b.py", 1);
    assert!(lp.notes(UPDATED).iter().all(|note| note["params"]["uri"] != FILE), "{:?}", lp.notes(UPDATED));
}
