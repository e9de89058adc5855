//! Questions while the watch of a large workspace is set up: the file that is asked about is proven by its stamps alone,
//! and an answer says what may be missing.

use serde_json::json;

use crate::{
    fake::script::Script,
    support::{Definition, Langport, Workspace, eventually},
};

trials![questions_while_the_watch_is_set_up];

/// What an answer says that was given before all folders were looked through.
const SETTING_UP: &str = "the watch is still being set up: a change to a file that is not open may be missing";

fn questions_while_the_watch_is_set_up() {
    let ws = Workspace::new("//- a.py\nword_0\n");
    for folder in 0..1_000 {
        let path = ws.path(&format!("d{}/e{folder}", folder % 50));
        std::fs::create_dir_all(&path).expect("a folder");
        (0..10).for_each(|file| std::fs::write(path.join(format!("m{file}.py")), "x = 1\n").expect("a file"));
    }
    let script = Script { unread: true, ..Script::watching("**/*") };
    let server = Definition::new("fake", script).table("[ready]\ngrace_ms = 0");
    let lp = Langport::builder(&ws).server(server).config("barrier_ms = 50").start();
    let at = json!({"file_path": "a.py", "line": 1, "column": 1});
    // The server has read everything after it was asked.
    lp.hover(&at).verdict_is("fresh").contains("WORD word_0");
    ws.write("d49/e999/m9.py", "changed\n");
    let (mut round, mut early) = (0, 0);
    eventually("everything is seen", || {
        round += 1;
        let text = format!("word_{round}");
        ws.write("a.py", &format!("{text}\n"));
        let stood = !lp.tool("status", &json!({})).has("setting up the watch");
        let answer = lp.hover(&at);
        // Whatever was seen: the open file is as it is on disk.
        answer.verdict_in(&["fresh", "unconfirmed", "settling"]).contains(&format!("WORD {text}"));
        if answer.verdict() == "unconfirmed" {
            answer.contains(SETTING_UP);
            assert!(!stood, "it was set up: {answer}");
            early += 1;
        }
        (stood && answer.verdict() == "fresh").then_some(())
    });
    eprintln!("{early} of {round} answers were given before the watch stood");
    // What was written before its folder was looked through is told as well.
    let told = lp.log().of("workspace/didChangeWatchedFiles");
    assert!(told.iter().any(|note| note.to_string().contains("d49/e999/m9.py")), "{told:?}");
}
