//! What real servers say: pyright, ty and ruff as langport itself installs them, on the example project and on Flask,
//! and the official MCP inspector. Each expectation was taken from the server directly and from reading the code. What
//! this machine cannot run is named at the end; with `LANGPORT_TEST_SERVERS=all` it is a failure.

mod builds;
mod changes;
mod clients;
mod configured;
mod definitions;
mod edits;
mod flask;
mod folders;
mod given;
mod inspector;
mod installed;
mod killed;
mod life;
mod many;
mod misread;
mod monorepo;
mod names;
mod positions;
mod project;
mod reach;
mod rows_native;
mod rows_python;
mod rows_typescript;
mod rows_web;
mod rust;
mod sandbox;
mod scopes;
mod servers;
mod shop;
mod shop_languages;
mod surveys;
mod sync;
mod truth;
mod undeclared;
mod wake;
mod written;

use std::collections::BTreeMap;

use libtest_mimic::Trial;

use crate::support::{Answer, Langport, Workspace, langport::Builder};

use self::servers::Need;

/// Lists the tests of a module, by what they need.
macro_rules! needs {
    ($([$($need:ident),*] => $($name:ident),+;)+) => {
        pub(super) fn trials() -> Vec<libtest_mimic::Trial> {
            let mut trials = Vec::new();
            $({
                let needs: &[crate::real::servers::Need] = &[$(crate::real::servers::Need::$need),*];
                $(trials.push(crate::real::trial(concat!(module_path!(), "::", stringify!($name)), needs, $name));)+
            })+
            trials
        }
    };
}
use needs;

/// Every test with a real server.
pub(crate) fn trials() -> Vec<Trial> {
    [
        shop::trials(),
        shop_languages::trials(),
        flask::trials(),
        sync::trials(),
        scopes::trials(),
        surveys::trials(),
        configured::trials(),
        configured::more(),
        installed::trials(),
        project::trials(),
        positions::trials(),
        names::trials(),
        life::trials(),
        killed::trials(),
        inspector::trials(),
        clients::trials(),
        builds::trials(),
        changes::trials(),
        edits::trials(),
        given::trials(),
        definitions::trials(),
        sandbox::trials(),
        folders::trials(),
        truth::trials(),
        many::trials(),
        misread::trials(),
        monorepo::trials(),
        reach::trials(),
        undeclared::trials(),
        wake::trials(),
        written::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A test that needs servers. One whose package manager is missing shows as ignored, under a name that says why; where
/// everything must run it fails instead.
fn trial(path: &str, needs: &'static [Need], test: fn()) -> Trial {
    let Some(missing) = needs.iter().find_map(|need| need.missing()).filter(|_| !servers::all_must_run()) else {
        let test = move || {
            for need in needs {
                need.put_in_place();
            }
            test();
            Ok(())
        };
        return Trial::test(short(path), test);
    };
    let reason = format!("not run: {missing}");
    let failure = reason.clone();
    Trial::test(format!("{} [{reason}]", short(path)), move || Err(failure.into())).with_ignored_flag(true)
}

fn short(path: &str) -> String {
    path.strip_prefix("it::").unwrap_or(path).to_owned()
}

/// The last words of a run: which servers it says nothing about.
pub(crate) fn not_run() -> Vec<String> {
    if servers::all_must_run() {
        return Vec::new();
    }
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for need in Need::ALL {
        if let Some(missing) = need.missing() {
            reasons.entry(missing).or_default().push(need.name());
        }
    }
    if let Some(missing) = clients::missing() {
        reasons.entry(missing).or_default().push("the command-line clients");
    }
    reasons
        .into_iter()
        .map(|(missing, names)| format!("not run: the tests with {} ({missing})", names.join(", ")))
        .collect()
}

/// langport with these servers and no others, with waits that a loaded machine can keep.
fn builder<'w>(workspace: &'w Workspace, needs: &[Need]) -> Builder<'w> {
    let data = servers::folder().to_string_lossy().into_owned();
    let mut builder = Langport::builder(workspace)
        .env("LANGPORT_DATA_DIR", &data)
        .config("max_wait_ms = 55000\nrequest_timeout_ms = 50000\nmax_chars = 40000");
    for need in needs {
        builder = builder.arg("--bind").arg(&format!("builtin/{}", need.name()));
    }
    builder
}

fn start(workspace: &Workspace, needs: &[Need]) -> Langport {
    builder(workspace, needs).start()
}

/// The printed places, sorted: servers are free in their order.
fn places(answer: &Answer) -> Vec<(String, usize, usize)> {
    let mut places = answer.places();
    places.sort();
    places
}

/// Sorts `path:line:column` words into what [`places`] gives.
fn at(words: &[&str]) -> Vec<(String, usize, usize)> {
    let mut places: Vec<_> = words
        .iter()
        .map(|word| {
            let mut parts = word.rsplitn(3, ':');
            let column = parts.next().and_then(|text| text.parse().ok()).expect("a column");
            let line = parts.next().and_then(|text| text.parse().ok()).expect("a line");
            (parts.next().expect("a path").to_owned(), line, column)
        })
        .collect();
    places.sort();
    places
}

/// A call or type tree as sorted lines, each with the names that lead to it: `total/order/gift shop/checkout.py:43:5 at 47`.
/// Of a place outside the workspace only the file's name is kept: it is the server's own.
fn tree(answer: &Answer) -> Vec<String> {
    let mut above: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    let body = answer.body();
    for line in body.lines() {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let mut fields = line.trim_start().split("  ");
        let name = fields.next().and_then(|field| field.split_once(' ')).map_or(line, |(_, name)| name);
        above.truncate(depth.saturating_sub(1));
        above.push(name);
        let mut place = fields.next().unwrap_or_default();
        if place.starts_with('/') {
            place = place.rsplit('/').next().unwrap_or_default().split(':').next().unwrap_or_default();
        }
        let rest: Vec<&str> = std::iter::once(place).chain(fields).collect();
        lines.push(format!("{} {}", above.join("/"), rest.join(" ")));
    }
    lines.sort();
    lines
}

/// Requires these lines of a [`tree`].
#[track_caller]
fn tree_is(answer: &Answer, lines: &[&str]) {
    let mut expected: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    expected.sort();
    assert_eq!(tree(answer), expected, "in the answer\n{answer}");
}

/// Requires these places and no others.
#[track_caller]
fn places_are(answer: &Answer, words: &[&str]) {
    assert_eq!(places(answer), at(words), "in the answer\n{answer}");
}

/// Requires the body, line by line, without the common indentation.
#[track_caller]
fn body_is(answer: &Answer, body: &str) {
    let lines = |text: &str| {
        text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line).trim_end().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lines(&answer.body()), body.lines().map(str::to_owned).collect::<Vec<_>>(), "in the answer\n{answer}");
}

/// Each answer ends with a mark of its own.
pub(super) fn without_mark(text: &str) -> &str {
    text.rsplit_once("\nmark @").expect("a mark").0
}
