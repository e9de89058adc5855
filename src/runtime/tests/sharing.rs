//! One process for several roots, and the limit where there cannot be one.

use std::{sync::Mutex, time::Duration};

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::memory::{Life, Machine, Memory};
use crate::{
    runtime::{instance::State, shortfall::Shortfall},
    sys::files,
};

const SHARE: &str = "[root]\nshare = true";

fn takes_folders() -> serde_json::Value {
    json!({"workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}}})
}

#[tokio::test(start_paused = true)]
async fn d2_5_roots_share_a_process_and_come_and_go() {
    let machine = Machine::new(Memory::of([Life::Healthy]).says(&takes_folders()), 4);
    let entry = machine.entry(SHARE);
    for root in ["one", "two", "three", "one", "two"] {
        machine.hover(1, &entry, root).await.unwrap();
    }
    assert_eq!(machine.memory.opened(), 1);
    let told = machine.memory.received("workspace/didChangeWorkspaceFolders");
    let names = |list: &str| -> Vec<String> {
        let events = told.iter().flat_map(|it| it["event"][list].as_array().unwrap());
        events.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((names("added"), names("removed")), (vec!["two".into(), "three".into()], vec![]));
    // What is gone is taken back, by and by.
    files::remove_tree(&machine.path("ws/two")).unwrap();
    sleep(Duration::from_secs(5)).await;
    let last = machine.memory.received("workspace/didChangeWorkspaceFolders").pop().unwrap();
    assert_eq!(last["event"]["removed"][0]["name"], "two", "{last}");
    assert!(machine.pool.runs(&entry));
}

/// A definition that does not let it, and a server that does not say that it can.
#[tokio::test(start_paused = true)]
async fn d2_5_who_cannot_share_gets_a_process_of_its_own() {
    for (capabilities, more) in [(takes_folders(), ""), (json!({}), SHARE)] {
        let machine = Machine::new(Memory::of([Life::Healthy]).says(&capabilities), 4);
        let entry = machine.entry(more);
        for root in ["one", "two", "one"] {
            machine.hover(1, &entry, root).await.unwrap();
        }
        assert_eq!(machine.memory.opened(), 2);
        assert!(machine.memory.received("workspace/didChangeWorkspaceFolders").is_empty());
    }
}

/// Folders belong to one life: a new one has its root, and gets the others when they are asked for.
#[tokio::test(start_paused = true)]
async fn after_a_new_start_folders_are_told_again() {
    let machine = Machine::new(Memory::of([Life::Healthy]).says(&takes_folders()), 4);
    let entry = machine.entry(SHARE);
    machine.hover(1, &entry, "one").await.unwrap();
    machine.hover(1, &entry, "two").await.unwrap();
    machine.pool.all()[0].reset().await;
    machine.hover(1, &entry, "two").await.unwrap();
    assert_eq!(machine.memory.opened(), 2);
    assert_eq!(machine.memory.received("workspace/didChangeWorkspaceFolders").len(), 2);
    assert_eq!(machine.memory.received("textDocument/didOpen").len(), 3);
}

/// Never more processes than the limit; the longest unused goes, and one that is in use stays.
#[tokio::test(start_paused = true)]
async fn per_03_the_limit_holds() {
    let machine = Machine::new(Memory::of([Life::Healthy]), 2);
    let entry = machine.entry("");
    for root in ["one", "two", "three"] {
        machine.hover(1, &entry, root).await.unwrap();
        sleep(Duration::from_secs(1)).await;
        let running = machine.pool.all().iter().filter(|instance| instance.is_running()).count();
        assert!(running <= 2, "{running} at once");
    }
    let alive: Vec<bool> = machine.pool.all().iter().map(|instance| instance.is_running()).collect();
    assert_eq!(alive, [false, true, true], "the longest unused one has gone");
    let sessions: Vec<_> = machine.pool.all()[1..].iter().map(|instance| instance.state()).collect();
    let holds: Vec<_> = sessions
        .iter()
        .map(|state| match state {
            State::Running(session) => session.hold(),
            other => panic!("{other:?}"),
        })
        .collect();
    // It waits for a place as long as it may.
    let begun = Instant::now();
    assert!(matches!(machine.hover(1, &entry, "one").await, Err(Shortfall::PoolFull { limit: 2 })));
    assert_eq!(begun.elapsed().as_secs(), 25);
    drop(holds);
    machine.hover(1, &entry, "one").await.unwrap();
    // A place that is only taken on purpose costs nothing: however often, it is never called broken.
    for _ in 0..10 {
        for root in ["two", "three", "one"] {
            machine.hover(1, &entry, root).await.unwrap();
        }
    }
}

/// Many at once: they wait for their turn, and the limit holds all the same.
#[tokio::test(start_paused = true)]
async fn starts_at_the_same_time_keep_the_limit() {
    let machine = Machine::new(Memory::of([Life::Healthy]), 1);
    let entry = machine.entry("");
    let asked = ["one", "two", "three"].map(|root| machine.hover(1, &entry, root));
    let answers = futures::future::join_all(asked).await;
    assert!(answers.iter().all(Result::is_ok));
    let running = machine.pool.all().iter().filter(|instance| instance.is_running()).count();
    assert!(running <= 1, "{running} at once");
}

/// A place that comes free goes to who has waited for it longest, and who asks what runs waits for nobody.
#[tokio::test(start_paused = true)]
async fn per_03_calls_wait_for_a_place_in_the_order_in_which_they_came() {
    let machine = Machine::new(Memory::of([Life::Healthy]), 1);
    let entry = machine.entry("");
    machine.hover(1, &entry, "one").await.unwrap();
    let State::Running(session) = machine.pool.all()[0].state() else { panic!("it runs") };
    let (hold, answered) = (session.hold(), Mutex::new(Vec::new()));
    let ask = async |root: &'static str| {
        machine.hover(1, &entry, root).await.unwrap();
        answered.lock().unwrap().push(root);
    };
    let meanwhile = async {
        sleep(Duration::from_secs(10)).await;
        ask("one").await;
        drop(hold);
    };
    tokio::join!(ask("two"), ask("three"), meanwhile);
    assert_eq!(*answered.lock().unwrap(), ["one", "two", "three"]);
}

/// Who gives up loses nobody's place in line.
#[tokio::test(start_paused = true)]
async fn per_03_a_call_that_gives_up_in_line_makes_way() {
    let machine = Machine::new(Memory::of([Life::Healthy]), 1);
    let entry = machine.entry("");
    machine.hover(1, &entry, "one").await.unwrap();
    let State::Running(session) = machine.pool.all()[0].state() else { panic!("it runs") };
    let hold = session.hold();
    let given_up = tokio::time::timeout(Duration::from_secs(3), machine.hover(1, &entry, "two"));
    let meanwhile = async {
        sleep(Duration::from_secs(5)).await;
        drop(hold);
    };
    let (given_up, third, ()) = tokio::join!(given_up, machine.hover(1, &entry, "three"), meanwhile);
    assert!(given_up.is_err());
    third.unwrap();
}

/// One that has to go and does not want to keeps waiting who has chosen it, and nobody else.
#[tokio::test(start_paused = true)]
async fn an_end_that_takes_long_holds_back_no_other_start() {
    let machine = Machine::new(Memory::of([Life::Stubborn, Life::Healthy]), 2);
    let entry = machine.entry("");
    for root in ["one", "two"] {
        machine.hover(1, &entry, root).await.unwrap();
        sleep(Duration::from_secs(1)).await;
    }
    for root in ["four", "five"] {
        files::create_dirs(&machine.path("ws").join(root)).unwrap();
        files::write(&machine.path("ws").join(root).join("a.py"), b"alpha\n").unwrap();
    }
    let begun = Instant::now();
    let timed = async |root: &'static str| {
        machine.hover(1, &entry, root).await.unwrap();
        begun.elapsed()
    };
    let running = || machine.pool.all().iter().filter(|instance| instance.state().is_live()).count();
    let most = async {
        let mut most = 0;
        while begun.elapsed() < Duration::from_secs(6) {
            most = most.max(running());
            sleep(Duration::from_millis(50)).await;
        }
        most
    };
    let (first, second, most) = tokio::join!(timed("three"), timed("four"), most);
    assert!(first >= Duration::from_secs(2), "it waits for the end of the one in its place: {first:?}");
    assert!(second < Duration::from_secs(1), "{second:?}");
    assert!(most <= 2, "{most} at once");
}

/// A place that is being left is not lost when the call that wanted it is gone.
#[tokio::test(start_paused = true)]
async fn a_place_that_nobody_waits_for_any_more_is_taken_by_the_next() {
    let machine = Machine::new(Memory::of([Life::Stubborn, Life::Healthy]), 1);
    let entry = machine.entry("");
    machine.hover(1, &entry, "one").await.unwrap();
    let given_up = tokio::time::timeout(Duration::from_millis(500), machine.hover(1, &entry, "two")).await;
    assert!(given_up.is_err());
    machine.hover(1, &entry, "three").await.unwrap();
    let alive: Vec<bool> = machine.pool.all().iter().map(|instance| instance.state().is_live()).collect();
    assert_eq!(alive, [false, false, true]);
}

/// What the process was given has to be right for both: a root with an environment of its own does not join, and those
/// without one find each other all the same.
#[tokio::test(start_paused = true)]
async fn d2_5_two_environments_are_two_processes() {
    let machine = Machine::new(Memory::of([Life::Healthy]).says(&takes_folders()), 4);
    let entry = machine.entry(&format!("{SHARE}\n[env]\nVIRTUAL_ENV = \"${{venv}}\""));
    files::create_dirs(&machine.path("ws/one/.venv")).unwrap();
    files::write(&machine.path("ws/one/.venv/pyvenv.cfg"), b"home = /usr/bin").unwrap();
    for root in ["one", "two", "three", "one", "three", "two"] {
        machine.hover(1, &entry, root).await.unwrap();
    }
    assert_eq!(machine.memory.opened(), 2);
    let told = machine.memory.received("workspace/didChangeWorkspaceFolders");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["event"]["added"][0]["name"], "three");
}
