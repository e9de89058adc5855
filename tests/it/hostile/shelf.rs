//! The problems that all servers tell of share one bound: sixteen servers that fill theirs take no more than one may.

use serde_json::json;

use super::{ALLOWED, PATIENT, crowd::list};
use crate::{
    fake::script::{Act, Publish, Script},
    support::{Answer, Definition, Langport, Workspace, procs},
};

trials![b3_out_02_sixteen_servers_share_the_room_for_problems];

/// A language for each server, and the ending of its files.
const LANGUAGES: [(&str, &str); 16] = [
    ("python", "py"),
    ("go", "go"),
    ("rust", "rs"),
    ("ruby", "rb"),
    ("java", "java"),
    ("kotlin", "kt"),
    ("scala", "scala"),
    ("swift", "swift"),
    ("php", "php"),
    ("perl", "pm"),
    ("haskell", "hs"),
    ("elixir", "ex"),
    ("dart", "dart"),
    ("julia", "jl"),
    ("zig", "zig"),
    ("csharp", "cs"),
];

/// Problems of one list, and the bytes of each: more than is kept of one message.
const PROBLEMS: usize = 1_200;
const BYTES: usize = 1_900;

fn b3_out_02_sixteen_servers_share_the_room_for_problems() {
    let files: String = LANGUAGES.iter().map(|(_, ending)| format!("//- a.{ending}\nalpha\n")).collect();
    let ws = Workspace::new(&format!("{files}//- e.lua\nERR its own\nWARN too\n"));
    let mut builder = Langport::builder(&ws)
        .server(Definition::new("good", Script::new()).languages(&["lua"]))
        .config("instances = 20\nrequest_timeout_ms = 240000")
        .max_wait(PATIENT);
    for (language, ending) in LANGUAGES {
        let own = format!("a.{ending}");
        let lists = |version| -> Vec<Act> {
            let others = (0..2).flat_map(|n| list(&ws.uri(&format!("other{n}.{ending}")), None, PROBLEMS, BYTES));
            others.chain(list(&ws.uri(&own), Some(version), PROBLEMS, BYTES)).collect()
        };
        // Opened once more, where only the count is left, it tells once more.
        let turns: Vec<Vec<Act>> = (1..=4).map(lists).collect();
        let script = Script::new().publish(Publish::never()).each("textDocument/didOpen", turns);
        builder = builder.server(Definition::new(language, script).languages(&[language]));
    }
    let mut lp = builder.start();
    lp.tolerate();
    let good = |lp: &Langport| {
        let answer = lp.diagnostics("e.lua");
        answer.says("fresh · good · 1 error, 1 warning");
        assert_eq!(answer.places().len(), 2, "{answer}");
    };
    good(&lp);
    let before = procs::peak_kib(lp.pid());
    let ask = |ending: &str| lp.call("lsp_diagnostics", &json!({"file_path": format!("a.{ending}")}));
    let calls: Vec<i64> = LANGUAGES.iter().map(|(_, ending)| ask(ending)).collect();
    let counted = |answer: &Answer| {
        answer.verdict_in(&["fresh", "settling"]).contains("1,200 errors; too many to keep: ").lacks("no problems");
    };
    calls.into_iter().for_each(|call| counted(&Answer::of(&lp.answer(call))));
    // Whoever keeps little keeps it.
    good(&lp);
    for (_, ending) in LANGUAGES {
        let again = Answer::of(&lp.answer(ask(ending)));
        counted(&again);
        assert!(!again.places().is_empty(), "what was given up is asked for anew: {again}");
    }
    good(&lp);
    let grown = procs::peak_kib(lp.pid()) - before;
    eprintln!("langport has grown by {grown} KiB");
    assert!(grown <= ALLOWED, "langport has grown by {grown} KiB");
}
