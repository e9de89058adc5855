//! Starts, deaths, silence, new definitions, and who is there.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::memory::{Life, Machine, Memory, executable};
use crate::{
    protocol::{Host, RefreshKind, Told},
    registry::Registry,
    runtime::{
        event::Event,
        instance::{Budget, Phase, State},
        pool::PoolLimits,
        shortfall::Shortfall,
    },
    sys::files,
};

const LIMITS: PoolLimits = PoolLimits {
    instances: 16,
    idle: Duration::from_secs(86_400),
    budget: Budget {
        restarts: 3,
        window: Duration::from_secs(300),
        first: Duration::from_secs(1),
        longest: Duration::from_secs(300),
    },
};

/// The budget is spent, then it is left alone for a second, two, four, and then it is well.
#[tokio::test(start_paused = true)]
async fn b12_lif_02_a_crash_loop_is_bounded_and_heals() {
    let lives = std::iter::repeat_n(Life::Refuses, 7).chain([Life::Healthy]);
    let machine = Machine::new(Memory::of(lives), 4);
    let entry = machine.entry("[install]\nhint = \"ask your vendor\"");
    for start in 1..=4 {
        let Err(Shortfall::NotStarted { hint, .. }) = machine.hover(1, &entry, "one").await else {
            panic!("start {start} fails")
        };
        assert_eq!(hint.as_deref(), Some("ask your vendor"));
        assert_eq!(machine.memory.opened(), start);
    }
    for (pause, opened) in [(1, 4), (2, 5), (4, 6), (8, 7)] {
        let began = Instant::now();
        while sleep_past(began, Duration::from_millis(pause * 1000 - 50)).await {
            let Err(Shortfall::Broken { hint, reason, .. }) = machine.hover(1, &entry, "one").await else {
                panic!("left alone for {pause} s")
            };
            assert_eq!(hint.as_deref(), Some("ask your vendor"), "the hint is not lost");
            assert!(reason.contains("no luck today"), "{reason}");
            assert_eq!(machine.memory.opened(), opened);
        }
        sleep(Duration::from_millis(100)).await;
        let answer = machine.hover(1, &entry, "one").await;
        assert_eq!(answer.is_ok(), opened == 7, "{answer:?}");
    }
    assert_eq!(machine.memory.opened(), 8);
}

/// Lets a tenth of a second pass, until so much has passed since then.
async fn sleep_past(began: Instant, longest: Duration) -> bool {
    sleep(Duration::from_millis(100)).await;
    began.elapsed() < longest
}

/// What changed is a new chance at once: the program, and a manifest of the root.
#[tokio::test(start_paused = true)]
async fn d2_2_a_change_is_a_new_chance() {
    for change in ["server", "ws/one/srv.json"] {
        let lives = std::iter::repeat_n(Life::Refuses, 4).chain([Life::Healthy]);
        let machine = Machine::new(Memory::of(lives), 4);
        let entry = machine.entry("[root]\nmarkers = [[\"srv.json\"]]");
        for _ in 0..4 {
            assert!(machine.hover(1, &entry, "one").await.is_err());
        }
        assert!(matches!(machine.hover(1, &entry, "one").await, Err(Shortfall::Broken { .. })));
        files::atomic_write(&machine.path(change), b"#!/bin/sh\n# new\n").unwrap();
        executable(&machine.path(change));
        machine.hover(1, &entry, "one").await.unwrap();
        assert_eq!(machine.memory.opened(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn each_change_of_state_is_told_with_its_cause() {
    let machine = Machine::new(Memory::of([Life::Dies, Life::Healthy]), 4);
    let entry = machine.entry("");
    let mut events = machine.pool.events();
    machine.hover(1, &entry, "one").await.unwrap();
    machine.pool.shutdown().await;
    let mut seen = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let Event::State { phase, cause, .. } = event {
            assert!(!cause.is_empty());
            seen.push(phase);
        }
    }
    use Phase::{Ended, Failed, Running, Starting, Stopped, Stopping};
    assert_eq!(seen, [Starting, Running, Failed, Starting, Running, Stopping, Stopped, Ended]);
}

/// Three questions without a word, then a cheap one: it is ended, and the next call has a new one.
#[tokio::test(start_paused = true)]
async fn a_mute_server_is_ended_and_a_slow_one_is_not() {
    let machine = Machine::new(Memory::of([Life::Mute, Life::Healthy]), 4);
    let entry = machine.entry("");
    for _ in 0..3 {
        assert!(matches!(machine.hover(1, &entry, "one").await, Err(Shortfall::Unanswered { .. })));
    }
    let instance = machine.pool.all().pop().unwrap();
    while instance.is_running() {
        sleep(Duration::from_millis(100)).await;
    }
    let State::Failed(shortfall) = instance.state() else { panic!("{:?}", instance.state()) };
    assert!(shortfall.to_string().contains("answered nothing any more"), "{shortfall}");
    machine.hover(1, &entry, "one").await.unwrap();
    assert_eq!(machine.memory.opened(), 2);

    let machine = Machine::new(Memory::of([Life::Slow]), 4);
    let entry = machine.entry("");
    for _ in 0..6 {
        assert!(machine.hover(1, &entry, "one").await.is_err());
    }
    sleep(Duration::from_secs(30)).await;
    assert_eq!(machine.memory.opened(), 1);
    assert!(machine.pool.runs(&entry));
}

/// Several callers have one process; it is stopped when the last of them goes.
#[tokio::test(start_paused = true)]
async fn a7_5_the_last_caller_takes_the_server_along() {
    let machine = Machine::new(Memory::of([Life::Healthy]), 4);
    let entry = machine.entry("");
    for caller in 1..=3 {
        machine.hover(caller, &entry, "one").await.unwrap();
    }
    let instance = machine.pool.all().pop().unwrap();
    assert_eq!((machine.memory.opened(), instance.callers()), (1, 3));
    for caller in [1, 2] {
        machine.pool.forget(caller);
        sleep(Duration::from_secs(6)).await;
        assert!(instance.is_running());
    }
    machine.pool.forget(3);
    sleep(Duration::from_secs(6)).await;
    assert!(matches!(instance.state(), State::Stopped), "{:?}", instance.state());
    assert_eq!(machine.memory.received("shutdown").len(), 1);
}

/// What runs alike stays, what does not ends, and a call that began before goes on with what is there now.
#[tokio::test(start_paused = true)]
async fn x27_b13_another_definition_ends_its_server_and_no_other() {
    let machine = Machine::new(Memory::of([Life::Healthy]), 4);
    let old = machine.entry("");
    machine.hover(1, &old, "one").await.unwrap();
    let instance = machine.pool.all().pop().unwrap();

    let renamed = machine.entry("description = \"another text\"\ngroup = \"g\"");
    machine.pool.reload(&Registry::of([(*renamed).clone()]), |_| {}, LIMITS);
    machine.hover(1, &renamed, "one").await.unwrap();
    assert!(instance.is_running());
    assert_eq!(machine.memory.opened(), 1);

    let session = match instance.state() {
        State::Running(session) => session,
        other => panic!("{other:?}"),
    };
    let hold = session.hold();
    let new = machine.entry("args = [\"--new\"]");
    machine.pool.reload(&Registry::of([(*new).clone()]), |_| {}, LIMITS);
    // With the old definition in its hands, a call is answered by the new server; the old one waits for its own.
    machine.hover(1, &old, "one").await.unwrap();
    assert_eq!(machine.memory.opened(), 2);
    assert!(instance.is_running());
    drop(hold);
    sleep(Duration::from_secs(6)).await;
    assert!(matches!(instance.state(), State::Ended), "{:?}", instance.state());
    assert!(matches!(instance.session(Duration::from_secs(1)).await, Err(Shortfall::Replaced)));
    // Whatever still comes of the old one says nothing any more.
    session.heard.told(Told::Refresh(RefreshKind::Diagnostics));
    assert_eq!(session.heard.record().refreshes, 0);

    machine.pool.reload(&Registry::of([]), |_| {}, LIMITS);
    assert!(matches!(machine.hover(1, &old, "one").await, Err(Shortfall::Replaced)));
    sleep(Duration::from_secs(6)).await;
    assert!(!machine.pool.runs(&new));
}

/// What nobody asks is stopped, however often, and that is no failure; what is in use is not.
#[tokio::test(start_paused = true)]
async fn per_03_what_nobody_asks_is_stopped() {
    let machine = Machine::new(Memory::of([Life::Healthy]), 4);
    let entry = machine.entry("");
    let limits = PoolLimits { idle: Duration::from_secs(60), ..LIMITS };
    machine.pool.reload(&Registry::of([(*entry).clone()]), |_| {}, limits);
    for start in 1..=8 {
        machine.hover(1, &entry, "one").await.unwrap();
        assert_eq!(machine.memory.opened(), start);
        sleep(Duration::from_secs(50)).await;
        assert!(machine.pool.runs(&entry));
        sleep(Duration::from_secs(20)).await;
        let entered = machine.pool.all()[0].entered();
        assert!(matches!(entered.state, State::Stopped), "{:?}", entered.state);
        assert_eq!(entered.cause, "nobody has asked it for a while");
    }
    machine.hover(1, &entry, "one").await.unwrap();
    let State::Running(session) = machine.pool.all()[0].state() else { panic!("it runs") };
    let hold = session.hold();
    sleep(Duration::from_secs(600)).await;
    assert!(machine.pool.runs(&entry));
    drop(hold);
}
