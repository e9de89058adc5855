//! What changed, what is new and what the whole workspace says, as pyright, ty and TypeScript see it.

use serde_json::json;

use crate::{
    marks::{commit, mark},
    support::{Answer, Langport, Workspace},
};

use super::{needs, servers::Need, start};

needs! {
    [Pyright] => two_files_changed_pyright, git_revision_pyright, broken_elsewhere_pyright, old_errors_below_new_lines_pyright,
        the_whole_workspace_pyright;
    [Ty] => two_files_changed_ty, git_revision_ty, broken_elsewhere_ty, old_errors_below_new_lines_ty, the_whole_workspace_ty;
    [Typescript7] => two_files_changed_typescript, git_revision_typescript, broken_elsewhere_typescript, old_errors_below_new_lines_typescript,
        the_whole_workspace_typescript;
}

/// A project in the language of a server: `lib` has `calc`, which takes a number, `use` calls it rightly.
struct Project {
    need: Need,
    lib: &'static str,
    using: &'static str,
    /// The kind of number in `lib`, and another type.
    number: (&'static str, &'static str),
    /// The right call in `using`, and a wrong one.
    call: (&'static str, &'static str),
    comment: &'static str,
    fixture: &'static str,
}

const PYTHON: &str = "//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n\
    //- lib.py\ndef calc(a: int) -> int:\n    print(a)\n    return 1\n\
    //- use.py\nfrom lib import calc\n\ncalc(1)\n\
    //- far.py\nx = 1\n";

const TYPESCRIPT: &str = "//- tsconfig.json\n{ \"compilerOptions\": { \"strict\": true, \"noEmit\": true } }\n\
    //- lib.ts\nexport function calc(a: number): number {\n    return a ? 1 : 2;\n}\n\
    //- use.ts\nimport { calc } from \"./lib\";\n\ncalc(1);\n\
    //- far.ts\nexport const x = 1;\n";

const fn python(need: Need) -> Project {
    Project {
        need,
        lib: "lib.py",
        using: "use.py",
        number: ("a: int", "a: bytes"),
        call: ("calc(1)", "calc(\"x\")"),
        comment: "#",
        fixture: PYTHON,
    }
}

const fn typescript() -> Project {
    Project {
        need: Need::Typescript7,
        lib: "lib.ts",
        using: "use.ts",
        number: ("a: number", "a: string[]"),
        call: ("calc(1)", "calc(\"x\")"),
        comment: "//",
        fixture: TYPESCRIPT,
    }
}

impl Project {
    fn begin(&self) -> (Workspace, Langport) {
        let ws = Workspace::new(self.fixture);
        let lp = start(&ws, &[self.need]);
        (ws, lp)
    }

    /// Turns the first text into the second.
    #[track_caller]
    fn edit(&self, ws: &Workspace, file: &str, (from, to): (&str, &str)) {
        let text = ws.read(file);
        assert!(text.contains(from), "{from} in {text}");
        ws.write(file, &text.replace(from, to));
    }

    fn is_in(&self, answer: &Answer, file: &str, line: usize) -> bool {
        answer.places().iter().any(|place| place.0 == file && place.1 == line)
    }
}

fn ask(lp: &Langport, arguments: serde_json::Value) -> Answer {
    let answer = lp.tool("diagnostics", &arguments);
    answer.verdict_is("fresh");
    answer
}

/// The error is in the file that was not edited.
fn two_files_changed(project: &Project) {
    let (ws, lp) = project.begin();
    let name = project.need.name();
    for file in [project.using, project.lib] {
        ask(&lp, json!({"file_path": file})).says(&format!("fresh · {name} · no problems"));
    }
    for _ in 0..3 {
        project.edit(&ws, project.lib, project.number);
        ws.write(project.lib, &format!("{} a comment\n{}", project.comment, ws.read(project.lib)));
        let before = ask(&lp, json!({"scope": "changed", "new_only": true}));
        before.contains("1 new error in 1 of 2 files");
        assert!(project.is_in(&before, project.using, 3), "{before}");
        // A second edit of another file: that one error is not new any more.
        project.edit(&ws, project.using, project.call);
        let second = ask(&lp, json!({"scope": "changed"}));
        second.contains("1 error in 1 of 1 file");
        let since = ask(&lp, json!({"since": mark(&before)}));
        since.contains("1 error in 1 of 1 file");
        // Both at once.
        let (from, to) = project.number;
        project.edit(&ws, project.lib, (to, from));
        ws.write(project.lib, ws.read(project.lib).split_once('\n').expect("two lines").1);
        let (from, to) = project.call;
        project.edit(&ws, project.using, (to, from));
        ask(&lp, json!({"scope": "changed", "new_only": true})).contains("no new problems in 2 files, 1 gone");
    }
}

fn git_revision(project: &Project) {
    let ws = Workspace::new(project.fixture);
    commit(&ws);
    project.edit(&ws, project.using, project.call);
    ws.write(project.using, &format!("{} a comment\n{}", project.comment, ws.read(project.using)));
    let lp = start(&ws, &[project.need]);
    // Nothing was ever asked: the last commit is what is compared with.
    let first = ask(&lp, json!({"scope": "changed", "new_only": true}));
    first.contains("1 new error in 1 of 1 file, since HEAD").contains("compared by lines");
    assert!(project.is_in(&first, project.using, 4), "{first}");
    commit(&ws);
    ask(&lp, json!({"scope": "changed", "since": "HEAD"})).contains("nothing to look at has changed");
    ask(&lp, json!({"scope": "changed", "since": "HEAD~1"})).contains("1 error in 1 of 1 file");
}

/// The error is in a file that has not changed since the revision, and nothing was ever asked before.
fn broken_elsewhere(project: &Project) {
    let ws = Workspace::new(project.fixture);
    commit(&ws);
    project.edit(&ws, project.lib, project.number);
    let lp = start(&ws, &[project.need]);
    let answer = ask(&lp, json!({"scope": "changed", "since": "HEAD", "new_only": true}));
    answer.contains("1 new error in 1 of 2 files, since HEAD").contains("may be older");
    assert!(project.is_in(&answer, project.using, 3), "{answer}");
    let (from, to) = project.number;
    project.edit(&ws, project.lib, (to, from));
    ask(&lp, json!({"scope": "changed", "since": "HEAD", "new_only": true})).contains("nothing to look at has changed");
}

fn old_errors_below_new_lines(project: &Project) {
    let (ws, lp) = project.begin();
    let name = project.need.name();
    project.edit(&ws, project.using, project.call);
    let first = mark(ask(&lp, json!({"file_path": project.using})).says(&format!("fresh · {name} · 1 error")));
    for lines in [1, 4] {
        let above = format!("{} a comment\n", project.comment).repeat(lines);
        ws.write(project.using, &format!("{above}{}", ws.read(project.using)));
        let answer = ask(&lp, json!({"file_path": project.using, "new_only": true, "since": first}));
        answer.says(&format!("fresh · {name} · no new problems, since {first}"));
    }
    let end = if project.comment == "#" { "calc([])\n" } else { "calc([]);\n" };
    ws.write(project.using, &format!("{}{end}", ws.read(project.using)));
    let answer = ask(&lp, json!({"file_path": project.using, "new_only": true, "since": first}));
    answer.says(&format!("fresh · {name} · 1 new error, since {first}"));
    assert!(project.is_in(&answer, project.using, 9) && !project.is_in(&answer, project.using, 8), "{answer}");
}

fn the_whole_workspace(project: &Project) {
    let (ws, lp) = project.begin();
    let whole = || ask(&lp, json!({"scope": "workspace"}));
    whole().contains("no problems in 3 files");
    project.edit(&ws, project.lib, project.number);
    let answer = whole();
    answer.contains("1 error in 1 of 3 files");
    assert!(project.is_in(&answer, project.using, 3), "{answer}");
}

fn two_files_changed_pyright() {
    two_files_changed(&python(Need::Pyright));
}

fn two_files_changed_ty() {
    two_files_changed(&python(Need::Ty));
}

fn two_files_changed_typescript() {
    two_files_changed(&typescript());
}

fn git_revision_pyright() {
    git_revision(&python(Need::Pyright));
}

fn git_revision_ty() {
    git_revision(&python(Need::Ty));
}

fn git_revision_typescript() {
    git_revision(&typescript());
}

fn old_errors_below_new_lines_pyright() {
    old_errors_below_new_lines(&python(Need::Pyright));
}

fn old_errors_below_new_lines_ty() {
    old_errors_below_new_lines(&python(Need::Ty));
}

fn old_errors_below_new_lines_typescript() {
    old_errors_below_new_lines(&typescript());
}

fn the_whole_workspace_pyright() {
    the_whole_workspace(&python(Need::Pyright));
}

fn the_whole_workspace_ty() {
    the_whole_workspace(&python(Need::Ty));
}

fn the_whole_workspace_typescript() {
    the_whole_workspace(&typescript());
}

fn broken_elsewhere_pyright() {
    broken_elsewhere(&python(Need::Pyright));
}

fn broken_elsewhere_ty() {
    broken_elsewhere(&python(Need::Ty));
}

fn broken_elsewhere_typescript() {
    broken_elsewhere(&typescript());
}
