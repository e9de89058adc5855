//! Questions that get stuck: who waits behind them hears so in time, and a flood of one caller keeps no other one out.

use std::time::Duration;

use futures::future::{join, join_all, join3};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::memory::{Life, Machine, Memory};
use crate::runtime::shortfall::{Occupied, Shortfall};

#[tokio::test(start_paused = true)]
async fn a8_4_a_flood_of_stuck_questions_keeps_no_other_caller_out() {
    let machine = Machine::new(Memory::of([Life::Slow]), 4);
    let entry = machine.entry("");
    let begun = Instant::now();
    let flood = join_all((0..30).map(|_| machine.hover(1, &entry, "one")));
    let other = async {
        sleep(Duration::from_secs(1)).await;
        machine.hover(2, &entry, "one").await
    };
    let (flood, other) = join(flood, other).await;
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(26_200), "{took:?}: no longer than a call may take");
    // It had the first turn that became free, although many had asked before.
    assert!(matches!(&other, Err(Shortfall::Unanswered { after }) if after.as_secs() >= 9), "{other:?}");
    let (mut unanswered, mut crowded) = (0, 0);
    for result in flood {
        match result {
            Err(Shortfall::Unanswered { after }) => {
                assert!(after.as_secs() >= 9, "{after:?}");
                unanswered += 1;
            }
            Err(Shortfall::Busy(Occupied::Questions { .. } | Occupied::Late)) => crowded += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((unanswered, crowded), (11, 19));
    // Until the server has read it all.
    sleep(Duration::from_secs(1)).await;
    assert_eq!(machine.memory.received("textDocument/hover").len(), 12, "nobody is asked without time to answer");
    assert_eq!(machine.memory.received("$/cancelRequest").len(), 12);
}

#[tokio::test(start_paused = true)]
async fn who_has_gone_leaves_the_turn() {
    let machine = Machine::new(Memory::of([Life::Slow, Life::Healthy]), 4);
    let entry = machine.entry("");
    let mut stuck: Vec<_> = (0..6).map(|_| Box::pin(machine.hover(1, &entry, "one"))).collect();
    let all = join_all(stuck.iter_mut());
    let gone = tokio::time::timeout(Duration::from_secs(2), all).await;
    assert!(gone.is_err());
    assert_eq!(machine.memory.received("textDocument/hover").len(), 6);
    drop(stuck);
    let begun = Instant::now();
    let next = machine.hover(1, &entry, "one").await;
    assert!(matches!(next, Err(Shortfall::Unanswered { .. })), "it was asked: {next:?}");
    assert!(begun.elapsed() < Duration::from_secs(16));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(machine.memory.received("$/cancelRequest").len(), 7);
}

#[tokio::test(start_paused = true)]
async fn d2_5_folders_that_are_wanted_together_are_told_in_one_message() {
    let folders = json!({"workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}}});
    let machine = Machine::new(Memory::of([Life::Healthy]).says(&folders), 4);
    let entry = machine.entry("[root]\nshare = true");
    let (one, two, three) =
        join3(machine.hover(1, &entry, "one"), machine.hover(1, &entry, "two"), machine.hover(2, &entry, "three"))
            .await;
    one.and(two).and(three).unwrap();
    let told = machine.memory.received("workspace/didChangeWorkspaceFolders");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["event"]["added"].as_array().unwrap().len(), 2, "{told:?}");
    // Who has gone meanwhile leaves nothing undone.
    machine.hover(1, &entry, "two").await.unwrap();
    assert_eq!(machine.memory.received("workspace/didChangeWorkspaceFolders").len(), 1);
}
