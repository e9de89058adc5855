//! Whatever a server tells, no secret of langport's environment or of a definition stands in an answer, in a log, or on
//! stderr.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::at;
use crate::{
    fake::script::{Act, Script},
    support::{Definition, Langport, Workspace},
};

trials![b17_no_planted_secret_is_shown_or_written, logs_are_lines_of_json_in_a_file_for_each_process];

const TOKEN: &str = "zq9-planted-token-4711";
const KEY: &str = "planted\"key\\with-9-odd-characters";
const PASSWORD: &str = "pl4ntedpassw0rd";
const OF_DEFINITION: &str = "planted-of-a-definition-77";
const OF_SETTINGS: &str = "planted-of-settings-88";
const LINES: [&str; 2] = ["planted-first-line-55", "planted-second-line-66"];
const BEARER: &str = "planted.bearer.abcdef123";

/// Every text file below a folder.
fn texts(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all += &texts(&path);
        } else {
            all += &String::from_utf8_lossy(&fs::read(&path).unwrap_or_default());
        }
    }
    all
}

fn b17_no_planted_secret_is_shown_or_written() {
    let ws = Workspace::new("//- a.py\nalpha BAD\n");
    let everything = format!(
        "{TOKEN} {KEY} {PASSWORD} {OF_DEFINITION} {OF_SETTINGS} Bearer {BEARER} https://me:{PASSWORD}@host/x\n{}",
        LINES.join("\n")
    );
    let log = json!({"type": 1, "message": everything});
    let script = Script::new()
        .on("initialized", [Act::Stderr(everything.clone(), 3), Act::Tell("window/logMessage".into(), log)])
        .each(
            "textDocument/hover",
            [vec![Act::Reply(json!({"contents": everything}))], vec![Act::Fail(-32603, everything.clone())]],
        )
        .on("textDocument/definition", [Act::Raw(format!("{everything}\n")), Act::Default])
        .on("textDocument/references", [Act::Stderr(everything.clone(), 1), Act::Exit(9)]);
    let definition = Definition::new("fake", script)
        .env("SERVICE_TOKEN", OF_DEFINITION)
        .env("FROM_OUTSIDE", "${GITHUB_TOKEN}")
        .key(&format!("args = [\"--token=${{GITHUB_TOKEN}}\", \"--api-key={OF_DEFINITION}\"]"))
        .table(&format!("[initialization]\naccessToken = \"{OF_SETTINGS}\""));
    let mut lp = Langport::builder(&ws)
        .server(definition)
        .env("GITHUB_TOKEN", TOKEN)
        .env("ODD_API_KEY", KEY)
        .env("DEPLOY_PRIVATE_KEY", &format!("{}\n", LINES.join("\n")))
        .env("DATABASE_URL", &format!("postgres://app:{PASSWORD}@db/x"))
        .env("LANGPORT_LOG", "trace")
        .env("LANGPORT_FILE_LOG", "trace")
        .env("LANGPORT_OUTPUT", "both")
        .max_wait(5_000)
        .start();
    lp.tolerate();
    let mut shown = String::new();
    for tool in ["hover", "hover", "definition", "references", "status"] {
        let arguments = if tool == "status" { json!({"server": "fake"}) } else { at() };
        let answer = lp.answer(lp.call(&format!("lsp_{tool}"), &arguments));
        shown += &format!("{tool}: {answer}\n");
    }
    assert!(shown.contains("[hidden]"), "{shown}");
    lp.hang_up();
    let stderr = lp.stderr();
    let written = texts(&ws.home().join("state"));
    assert!(stderr.len() > 1_000 && written.len() > 1_000, "both have been written to");
    // The file's text of the hover may show what only looks like a credential; a known one it may not.
    let [one, two] = LINES;
    for secret in [TOKEN, PASSWORD, OF_DEFINITION, OF_SETTINGS, one, two, KEY, &json!(KEY).to_string()] {
        let secret = secret.trim_matches('"');
        for (name, text) in [("an answer", &shown), ("stderr", &stderr), ("the state folder", &written)] {
            assert!(!text.contains(secret), "{name} has {secret}: {}", around(text, secret));
        }
    }
    for (name, text) in [("stderr", &stderr), ("the state folder", &written)] {
        assert!(!text.contains(BEARER), "{name} has the bearer's token: {}", around(text, BEARER));
    }
}

/// Some of a text around a place in it.
fn around(text: &str, what: &str) -> String {
    let at = text.find(what).unwrap_or_default();
    let before: String = text[..at].chars().rev().take(200).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{before}{}", text[at..].chars().take(100).collect::<String>())
}

fn logs_are_lines_of_json_in_a_file_for_each_process() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    for _ in 0..2 {
        let mut both = [Langport::with(&ws, Script::new()), Langport::with(&ws, Script::new())];
        both.iter().for_each(|lp| drop(lp.hover(&at()).verdict_is("fresh").text.clone()));
        both.iter_mut().for_each(|lp| assert!(lp.hang_up().is_some()));
    }
    let folder = ws.home().join("state/log");
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let states: Vec<&str> = lines.iter().filter_map(|line| line["fields"]["state"].as_str()).collect();
        assert!(states.starts_with(&["starting", "running", "stopping", "stopped"]), "{text}");
    }
    // Switched off there is none.
    fs::remove_dir_all(&folder).unwrap();
    let lp =
        Langport::builder(&ws).server(Definition::new("fake", Script::new())).env("LANGPORT_FILE_LOG", "off").start();
    lp.hover(&at()).verdict_is("fresh");
    drop(lp);
    assert!(!folder.exists());
}
