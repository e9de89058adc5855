//! The integration tests: one program that is the test runner, and, when langport starts it, the scripted language
//! server. Every test runs the real langport against scripted servers and reads what both sides saw.
//!
//! A new test is a function in the module of its family, named in that module's `trials!` list. It writes a
//! [`Workspace`](support::Workspace), scripts a server ([`Script`](fake::script::Script)), starts
//! [`Langport`](support::Langport) and asserts on [`Answer`](support::Answer)s and the server's
//! [`Log`](support::Log). Dropping `Langport` checks the rest: stdout, exit code, leftovers, the protocol's rules.
#![expect(clippy::disallowed_methods, reason = "tests start programs and write files of their own")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::needless_pass_by_value, reason = "values made by `json!` are handed over")]
#![expect(clippy::print_stderr, reason = "a failed test shows what both sides saw")]

/// Lists the tests of a module.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$($crate::trial(concat!(module_path!(), "::", stringify!($name)), $name)),*]
        }
    };
}

mod abandoned;
mod actions;
mod aftermath;
mod as_given;
mod between;
mod beyond;
mod boundary;
mod called;
mod callers;
mod changed;
mod changes;
mod channels;
mod clients;
mod consent;
mod counts;
mod crash;
mod crowded;
mod deaths;
mod diagnostics;
mod doctor;
mod documents;
mod ending;
mod eventless;
mod everything;
mod fake;
mod freshness;
mod front;
mod grouped;
mod heeded;
mod hostile;
mod hostile_edits;
mod hostile_places;
mod install;
mod late;
mod lifecycle;
mod links;
mod lives;
mod marks;
mod mcp;
mod misshapen;
mod mistakes;
mod moves;
mod occupied;
mod operations;
mod output;
mod planners;
mod positions;
mod reach;
mod readme;
mod real;
mod reload;
mod renames;
mod replaced;
mod resources;
mod roots;
mod routing;
mod same;
mod scale;
mod searches;
mod selftest;
mod setting_up;
mod settled;
mod several;
mod shims;
mod since;
mod socket;
mod status;
mod strays;
mod support;
mod sync;
mod tools;
mod try_tour;
mod twins;
mod undeclared;
mod unseen;
mod wake;
mod watched;
mod wire;

use libtest_mimic::{Arguments, Trial};

/// A test that fails by panicking.
fn trial(path: &str, test: fn()) -> Trial {
    let name = path.strip_prefix("it::").unwrap_or(path).to_owned();
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

fn main() {
    if let Some(script) = std::env::var_os(fake::SCRIPT) {
        fake::run(script.as_ref());
    }
    if let Some(order) = std::env::var_os(crash::WRITER) {
        crash::write(order.as_ref());
    }
    let mut arguments = Arguments::from_args();
    // Tests wait for processes more than they compute.
    arguments.test_threads.get_or_insert(std::thread::available_parallelism().map_or(4, |n| n.get() + 3));
    let trials = [
        selftest::trials(),
        positions::trials(),
        reach::trials(),
        readme::trials(),
        resources::trials(),
        sync::trials(),
        diagnostics::trials(),
        channels::trials(),
        between::trials(),
        marks::trials(),
        since::trials(),
        same::trials(),
        changed::trials(),
        everything::trials(),
        grouped::trials(),
        freshness::trials(),
        eventless::trials(),
        undeclared::trials(),
        unseen::trials(),
        watched::trials(),
        late::trials(),
        documents::trials(),
        replaced::trials(),
        scale::trials(),
        setting_up::trials(),
        lifecycle::trials(),
        lives::trials(),
        deaths::trials(),
        twins::trials(),
        reload::trials(),
        settled::trials(),
        ending::trials(),
        roots::trials(),
        routing::trials(),
        output::trials(),
        counts::trials(),
        status::trials(),
        misshapen::trials(),
        mistakes::trials(),
        front::trials(),
        heeded::trials(),
        shims::trials(),
        wire::trials(),
        as_given::trials(),
        boundary::trials(),
        socket::trials(),
        mcp::trials(),
        tools::trials(),
        abandoned::trials(),
        beyond::trials(),
        occupied::trials(),
        actions::trials(),
        called::trials(),
        callers::trials(),
        changes::trials(),
        aftermath::trials(),
        wake::trials(),
        renames::trials(),
        strays::trials(),
        links::trials(),
        planners::trials(),
        moves::trials(),
        operations::trials(),
        searches::trials(),
        several::trials(),
        consent::trials(),
        hostile_edits::trials(),
        hostile_places::trials(),
        try_tour::trials(),
        hostile::trials(),
        hostile::crowd::trials(),
        hostile::floods::trials(),
        hostile::lists::trials(),
        hostile::masses::trials(),
        hostile::poison::trials(),
        hostile::process::trials(),
        hostile::rows::trials(),
        hostile::secrets::trials(),
        hostile::shelf::trials(),
        hostile::soak::trials(),
        hostile::trees::trials(),
        hostile::wire::trials(),
        install::trials(),
        doctor::trials(),
        clients::trials(),
        crash::trials(),
        crowded::trials(),
        real::trials(),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials.into_iter().flatten().collect());
    let left = support::procs::marked(&support::workspace::prefix());
    if !left.is_empty() {
        eprintln!("left behind by the tests: {left:?}");
        std::process::exit(102);
    }
    if conclusion.num_ignored > 0 {
        for line in real::not_run().into_iter().chain(eventless::not_run()) {
            eprintln!("{line}");
        }
    }
    conclusion.exit();
}
