//! Twenty times: break, ask, mend, ask. Whatever is called fresh must be right, every time.

use crate::support::Workspace;

use super::{needs, servers::Need, start};

needs! {
    [Pyright] => twenty_rounds_pyright;
    [Ty] => twenty_rounds_ty;
    [Ruff] => twenty_rounds_ruff;
}

const ROUNDS: usize = 20;

/// One answer: whether it was fresh, and whether it was right about the number of problems and the text they name.
fn twenty_rounds(need: Need, broken: impl Fn(usize) -> (String, String), mended: impl Fn(usize) -> String) {
    let ws = Workspace::new("//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n//- turn.py\nvalue = 0\n");
    let lp = start(&ws, &[need]);
    lp.diagnostics("turn.py").says(&format!("fresh · {} · no problems", need.name()));
    let (mut wrong, mut not_fresh) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (text, named) = broken(round);
        for (text, expected) in [(text, Some(named)), (mended(round), None)] {
            ws.write("turn.py", &text);
            let answer = lp.diagnostics("turn.py");
            let right = match &expected {
                Some(named) => answer.places().len() == 1 && answer.has(named),
                None => answer.first().ends_with(" · no problems"),
            };
            match answer.verdict() {
                "fresh" if right => {}
                "fresh" => wrong.push(format!("round {round}, {expected:?} expected:\n{answer}")),
                _ => not_fresh.push(answer.first().to_owned()),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} answers were called fresh and wrong:\n{}",
        wrong.len(),
        2 * ROUNDS,
        wrong.join("\n")
    );
    assert!(not_fresh.is_empty(), "{} of {} answers were not fresh: {not_fresh:?}", not_fresh.len(), 2 * ROUNDS);
}

fn ill_typed(round: usize) -> (String, String) {
    (format!("{}value: int = name_{round}\n", "\n".repeat(round)), format!("name_{round}"))
}

fn well_typed(round: usize) -> String {
    format!("{}value: int = {round}\n", "\n".repeat(round))
}

fn twenty_rounds_pyright() {
    twenty_rounds(Need::Pyright, ill_typed, well_typed);
}

fn twenty_rounds_ty() {
    twenty_rounds(Need::Ty, ill_typed, well_typed);
}

fn twenty_rounds_ruff() {
    let unused = |round: usize| (format!("import mod_{round}\n"), format!("mod_{round}"));
    let used = |round: usize| format!("import mod_{round}\n\nprint(mod_{round})\n");
    twenty_rounds(Need::Ruff, unused, used);
}
