//! Diagnostics, pushed and pulled.

use expect_test::{Expect, expect};

use super::{lines, show_file, show_flag, show_range, show_some};
use crate::protocol::read::{Caps, FileReport, published, report, workspace_report};
use crate::protocol::types::{Capped, Diagnostic, Published, Report, Severity};

fn show_problem(problem: &Diagnostic) -> String {
    let related = problem
        .related
        .iter()
        .map(|related| format!(" ({} {} {:?})", show_file(&related.file), show_range(&related.range), related.message));
    [
        format!("{} {:?} {:?}", show_range(&problem.range), problem.severity, problem.message),
        show_some("code", &problem.code),
        show_some("source", &problem.source),
        show_flag("unnecessary", problem.unnecessary),
        show_flag("deprecated", problem.deprecated),
        related.collect(),
    ]
    .concat()
}

fn show_published(list: &Published) -> String {
    let version = show_some("version", &list.version);
    let (file, list) = (show_file(&list.file), &list.list);
    let (kept, told) = (list.items.len(), list.told().sum());
    let head = format!("{file}{version}: {kept} of {told}, {} dropped", list.malformed);
    lines([head].into_iter().chain(list.items.iter().map(show_problem)))
}

fn show_one_report(report: &Report) -> String {
    let (head, items, related) = match report {
        Report::Full { list, result_id, related } => {
            let (id, told) = (show_some("id", result_id), list.told().sum());
            let head = format!("full{id}: {} of {told}, {} dropped", list.items.len(), list.malformed);
            (head, list.items.as_slice(), related)
        }
        Report::Unchanged { result_id, related } => (format!("unchanged id={result_id:?}"), [].as_slice(), related),
    };
    let related = related.iter().map(|(file, report)| format!("{} -> {}", show_file(file), show_one_report(report)));
    lines([head].into_iter().chain(items.iter().map(show_problem)).chain(related))
}

fn show_report(report: &Option<Report>) -> String {
    report.as_ref().map_or("nothing".to_owned(), show_one_report)
}

fn show_workspace(list: &Option<Capped<FileReport>>) -> String {
    let Some(list) = list else { return "nothing".to_owned() };
    let head = format!("{} of {}, {} dropped", list.items.len(), list.total, list.dropped);
    let files = list.items.iter().map(|FileReport { file, version, report }| {
        format!("{}{} {}", show_file(file), show_some("version", version), show_one_report(report))
    });
    lines([head].into_iter().chain(files))
}

fn check_published(raw: &str, expected: &Expect) {
    super::check(published, show_published, raw, expected);
}

fn check_report(raw: &str, expected: &Expect) {
    super::check(report, show_report, raw, expected);
}

const RANGE: &str = r#"{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}"#;

#[test]
fn the_parts_of_a_diagnostic() {
    check_published(
        &format!(
            r#"{{"version":3,"diagnostics":[
                {{"range":{RANGE},"message":"bad","severity":2,"code":"E1","source":"pyright","tags":[1,2]}},
                {{"message":"left out","range":{RANGE}}},
                {{"message":{{"kind":"markdown","value":"*markup*"}},"range":{RANGE},"severity":4,"code":2304,"codeDescription":{{"href":"http://x"}}}},
                {{"message":"m","range":{RANGE},"severity":3,"code":{{"target":"http://x","value":"no-undef"}},"source":""}},
                {{"message":"m","range":{RANGE},"severity":9,"code":2.0,"tags":null,"relatedInformation":null,"source":null,"data":[{{}}]}},
                {{"message":"m","range":{RANGE},"severity":"x","code":null,"relatedInformation":[
                    {{"location":{{"uri":"file:///b.py","range":{RANGE}}},"message":"here"}},{{"message":"nowhere"}},null]}}
            ],"uri":"file:///a%20b.py"}}"#
        ),
        &expect![[r#"
            /a b.py version=3: 6 of 6, 0 dropped
            1:2-1:5 Warning "bad" code="E1" source="pyright" unnecessary deprecated
            1:2-1:5 Error "left out"
            1:2-1:5 Hint "*markup*" code="2304"
            1:2-1:5 Info "m" code="no-undef"
            1:2-1:5 Error "m" code="2"
            1:2-1:5 Error "m" (/b.py 1:2-1:5 "here")"#]],
    );
}

#[test]
fn publishing() {
    check_published(r#"{"uri":"file:///a","diagnostics":[]}"#, &expect!["/a: 0 of 0, 0 dropped"]);
    check_published(r#"{"uri":"file:///a","version":null,"diagnostics":null}"#, &expect!["/a: 0 of 0, 0 dropped"]);
    check_published(
        r#"{"uri":"file:///a","version":99999999999,"diagnostics":[]}"#,
        &expect!["/a version=2147483647: 0 of 0, 0 dropped"],
    );
    check_published(
        r#"{"uri":"foo","version":-1,"diagnostics":[null,{},7,{"message":"m"}]}"#,
        &expect!["<foo> version=-1: 0 of 0, 4 dropped"],
    );
    // What lacks its list must not pass for clean.
    check_published(
        r#"{"uri":"file:///a"}"#,
        &expect!["error: expected published diagnostics, the server sent an object without a valid `diagnostics`"],
    );
    check_published(
        r#"{"uri":"file:///a","diagnostics":{}}"#,
        &expect!["error: expected published diagnostics, the server sent an object without a valid `diagnostics`"],
    );
    check_published(
        r#"{"diagnostics":[]}"#,
        &expect!["error: expected published diagnostics, the server sent an object without a valid `uri`"],
    );
    check_published("null", &expect!["error: expected published diagnostics, the server sent null"]);
}

#[test]
fn pulling() {
    let problem = format!(r#"{{"range":{RANGE},"message":"m"}}"#);
    // `null` says nothing, least of all "clean".
    check_report("null", &expect!["nothing"]);
    check_report(r#"{"kind":"full","items":[]}"#, &expect!["full: 0 of 0, 0 dropped"]);
    check_report(
        &format!(r#"{{"items":[{problem},null],"resultId":"7","kind":"full"}}"#),
        &expect![[r#"
        full id="7": 1 of 1, 1 dropped
        1:2-1:5 Error "m""#]],
    );
    check_report(r#"{"kind":"unchanged","resultId":"7"}"#, &expect![[r#"unchanged id="7""#]]);
    check_report(r#"{"kind":"full","items":null}"#, &expect!["full: 0 of 0, 0 dropped"]);
    check_report(r#"{"items":[]}"#, &expect!["full: 0 of 0, 0 dropped"]);
    check_report(
        r#"{"kind":"full"}"#,
        &expect!["error: expected a diagnostic report or null, the server sent an object without a valid `items`"],
    );
    check_report(
        r#"{"kind":"full","items":7}"#,
        &expect!["error: expected a diagnostic report or null, the server sent an object without a valid `items`"],
    );
    check_report(
        "{}",
        &expect!["error: expected a diagnostic report or null, the server sent an object without a valid `kind`"],
    );
    check_report("[]", &expect!["error: expected a diagnostic report or null, the server sent an array"]);
    check_report(
        &format!(
            r#"{{"relatedDocuments":{{"file:///b":{{"kind":"full","items":[{problem}],"relatedDocuments":{{"file:///x":{{"kind":"full","items":[]}}}}}},
                "file:///c":{{"kind":"unchanged","resultId":"9"}},"file:///d":null,"file:///e":{{}}}},"kind":"full","items":[]}}"#
        ),
        &expect![[r#"
            full: 0 of 0, 0 dropped
            /b -> full: 1 of 1, 0 dropped
            1:2-1:5 Error "m"
            /c -> unchanged id="9""#]],
    );
}

#[test]
fn a_whole_workspace() {
    let check = |raw: &str, expected: &Expect| super::check(workspace_report, show_workspace, raw, expected);
    check("null", &expect!["nothing"]);
    check(r#"{"items":[]}"#, &expect!["0 of 0, 0 dropped"]);
    check(
        "{}",
        &expect![
            "error: expected a workspace diagnostic report or null, the server sent an object without a valid `items`"
        ],
    );
    check(
        r#"{"items":[{"kind":"full","uri":"file:///a","version":null,"items":[]},{"uri":"file:///b","version":4,"kind":"unchanged","resultId":"x"},
            {"kind":"full","items":[]},{"kind":"full","uri":"file:///c"},null]}"#,
        &expect![[r#"
            2 of 2, 3 dropped
            /a full: 0 of 0, 0 dropped
            /b version=4 unchanged id="x""#]],
    );
}

#[test]
fn a_flood_of_hints_hides_no_error() {
    let one = |severity: u8, n: usize| format!(r#"{{"range":{RANGE},"severity":{severity},"message":"{n}"}}"#);
    let mut list: Vec<_> = (0..5000).map(|n| one(4, n)).collect();
    list.push(one(2, 5000));
    list.extend((5001..5301).map(|n| one(1, n)));
    list.push(one(3, 5301));
    let raw = format!(r#"{{"uri":"file:///a","diagnostics":[{}]}}"#, list.join(","));
    let caps = Caps { items: 302, ..Caps::default() };
    let list = published(raw.as_bytes(), &caps).unwrap().list;
    let count = |severity| list.items.iter().filter(|problem| problem.severity == severity).count();
    assert_eq!((list.told().all, list.cut().all, list.items.len()), ([300, 1, 1, 5000], [0, 0, 0, 5000], 302));
    let counts = [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint].map(count);
    assert_eq!(counts, [300, 1, 1, 0]);
    // The server's order stays.
    assert!(list.items.is_sorted_by_key(|problem| problem.message.parse::<u32>().unwrap()));
}

#[test]
fn long_messages_are_cut() {
    let raw = format!(r#"{{"uri":"file:///a","diagnostics":[{{"range":{RANGE},"message":"{}"}}]}}"#, "é".repeat(9000));
    let list = published(raw.as_bytes(), &Caps::default()).unwrap().list;
    assert_eq!(list.items[0].message.len(), Caps::default().message);
}
