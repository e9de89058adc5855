//! Writers that are killed in the middle of a change, writers at the same time, and how long a large change takes. The
//! writer is this test program again, told by an environment variable.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use langport::{
    edits::{Changes, Limits, PlanId, Policy, Refusal, RefusalCode},
    protocol::{
        positions::{Encoding, Position, Range},
        types::{EditStep, FileRef, TextEdit, WorkspaceEdit},
    },
    sys::below::Hook,
    workspace::{disk::Disk, roots::Roots},
};
use serde_json::{Value, json};

use crate::support::Workspace;

trials![
    killed_at_each_write_the_tree_is_old_or_new,
    taking_back_killed_at_each_write_the_tree_is_old_or_new,
    whoever_settles_it_is_killed_at_each_write_too,
    random_changes_killed_anywhere,
    writers_in_several_processes_do_not_interleave,
    a_thousand_files_cost_at_most_three_times_their_writing,
];

/// Names the file with the writer's orders.
pub(crate) const WRITER: &str = "LANGPORT_IT_WRITER";

/// The other side of [`spawn`].
pub(crate) fn write(order: &Path) -> ! {
    let order: Value = serde_json::from_slice(&fs::read(order).unwrap()).unwrap();
    let (root, state) =
        (PathBuf::from(order["root"].as_str().unwrap()), PathBuf::from(order["state"].as_str().unwrap()));
    let code = if let Some(letter) = order["append"].as_str() {
        append(&root, &state, letter, order["times"].as_u64().unwrap());
        0
    } else {
        let kill = usize::try_from(order["kill"].as_u64().unwrap()).unwrap();
        // Writes are counted from here on.
        let from = Arc::new(AtomicUsize::new(0));
        let (count, start) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&from));
        let counted = Arc::clone(&count);
        let hook = Hook::new(move |_| {
            if counted.fetch_add(1, Ordering::SeqCst) == start.load(Ordering::SeqCst).saturating_add(kill) {
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
            }
            Ok(())
        });
        let changes = changes(&root, &state, hook);
        let done = match order["does"].as_str() {
            Some("recover") => changes.recover().map(drop),
            Some("undo") => {
                from.store(usize::MAX, Ordering::SeqCst);
                let id = made_by(&changes, steps(&root, &order["steps"])).unwrap();
                from.store(count.load(Ordering::SeqCst), Ordering::SeqCst);
                changes.undo(1, &id).map(drop)
            }
            _ => made_by(&changes, steps(&root, &order["steps"])).map(drop),
        };
        match done {
            Ok(()) => 0,
            Err(refusal) => panic!("{refusal}"),
        }
    };
    std::process::exit(code)
}

fn changes(root: &Path, state: &Path, hook: Hook) -> Changes {
    let limits = Limits { wait: Duration::from_secs(30), ..Limits::default() };
    Changes::hooked(state, &Roots::new([root]).unwrap(), Policy::default(), limits, hook)
}

fn make(root: &Path, state: &Path, steps: Vec<EditStep>, hook: Hook) -> Result<(), Refusal> {
    made_by(&changes(root, state, hook), steps).map(drop)
}

fn made_by(changes: &Changes, steps: Vec<EditStep>) -> Result<PlanId, Refusal> {
    let edit = WorkspaceEdit { steps, to_confirm: Vec::new() };
    let disk = Disk::new(5 << 20, 64 << 20);
    let plan = changes.plan(&disk, &edit, Encoding::Utf8, "change".into(), &|_| None)?;
    let id = changes.keep(1, plan)?;
    changes.apply(1, &id).map(|_| id)
}

/// Steps as orders have them: `[verb, path, path or text]`.
fn steps(root: &Path, orders: &Value) -> Vec<EditStep> {
    let file = |path: &Value| FileRef::Path(root.join(path.as_str().unwrap()));
    let step = |order: &Value| match order[0].as_str().unwrap() {
        "insert" => insert(file(&order[1]), order[2].as_str().unwrap()),
        "create" => EditStep::Create { file: file(&order[1]), overwrite: false, ignore_if_exists: true },
        "rename" => {
            EditStep::Rename { from: file(&order[1]), to: file(&order[2]), overwrite: false, ignore_if_exists: true }
        }
        _ => EditStep::Delete { file: file(&order[1]), recursive: true, ignore_if_not_exists: true },
    };
    orders.as_array().unwrap().iter().map(step).collect()
}

fn insert(file: FileRef, text: &str) -> EditStep {
    let start = Position { line: 0, character: 0 };
    let edit = TextEdit { range: Range { start, end: start }, text: text.to_owned(), snippet: false };
    EditStep::Texts { file, version: None, edits: vec![edit] }
}

/// Every file gets one more letter in front, again and again, whatever others do.
fn append(root: &Path, state: &Path, letter: &str, times: u64) {
    for _ in 0..times {
        loop {
            let all = names(root).map(|name| insert(FileRef::Path(root.join(name)), letter)).collect();
            match make(root, state, all, Hook::default()) {
                Ok(()) => break,
                Err(refusal) => assert_eq!(refusal.code, RefusalCode::Conflict, "{refusal}"),
            }
        }
    }
}

fn names(root: &Path) -> impl Iterator<Item = String> {
    let mut names: Vec<String> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with(".langport"));
    names.sort();
    names.into_iter()
}

fn spawn(workspace: &Workspace, order: &Value) -> Child {
    let mut all = json!({ "root": workspace.root(), "state": workspace.home().join("state") });
    all.as_object_mut().unwrap().extend(order.as_object().unwrap().clone());
    let path = workspace.home().join(format!("order-{}", order["append"].as_str().unwrap_or("kill")));
    fs::write(&path, all.to_string()).unwrap();
    fs::create_dir_all(workspace.home().join("state")).unwrap();
    Command::new(std::env::current_exe().unwrap()).env(WRITER, path).spawn().unwrap()
}

/// Every file with its content, every folder.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_dir() {
                all.insert(format!("{name}/"), String::new());
                left.push(path);
            } else {
                all.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    all
}

const FILES: &str = "//- a.rs\nmod a;\n//- b.rs\nmod b;\n//- dir/c.rs\nfn c() {}\n//- dir/in/d.rs\nd\n//- old/e.rs\ne\n//- old/f/g.rs\ng\n";

/// Whether a writer with these orders is killed before it is done.
fn is_killed(workspace: &Workspace, order: &Value) -> bool {
    let status = spawn(workspace, order).wait().unwrap();
    assert!(status.success() || status.signal() == Some(9), "{order}: {status}");
    !status.success()
}

/// The tree after the next start.
fn settled(workspace: &Workspace, when: &str) -> BTreeMap<String, String> {
    let recovered = changes(workspace.root(), &workspace.home().join("state"), Hook::default()).recover().unwrap();
    assert!(recovered.iter().all(|one| one.left.is_empty()), "{when}: {recovered:?}");
    tree(workspace.root())
}

/// What became of a writer that is killed at its `kill`th write, and of the tree after the next start. `None` where it was
/// done before.
fn killed(steps: &Value, kill: usize) -> Option<BTreeMap<String, String>> {
    let workspace = Workspace::new(FILES);
    let killed = is_killed(&workspace, &json!({ "steps": steps, "kill": kill }));
    killed.then(|| settled(&workspace, &format!("write {kill}")))
}

/// The tree before and after; `None` where the change is refused.
fn ends(orders: &Value) -> Option<[BTreeMap<String, String>; 2]> {
    let workspace = Workspace::new(FILES);
    let before = tree(workspace.root());
    let state = workspace.home().join("state");
    fs::create_dir_all(&state).unwrap();
    make(workspace.root(), &state, steps(workspace.root(), orders), Hook::default()).ok()?;
    Some([before, tree(workspace.root())])
}

/// Something of everything.
fn all_kinds() -> Value {
    json!([
        ["insert", "a.rs", "// A\n"],
        ["rename", "b.rs", "new/b2.rs"],
        ["insert", "new/b2.rs", "pub "],
        ["rename", "dir", "new/dir2"],
        ["insert", "new/dir2/c.rs", "// C\n"],
        ["create", "new/dir2/made/n.rs"],
        ["insert", "new/dir2/made/n.rs", "new\n"],
        ["delete", "old"],
    ])
}

fn killed_at_each_write_the_tree_is_old_or_new() {
    let steps = all_kinds();
    let [before, after] = ends(&steps).expect("it can be made");
    let mut seen = [0, 0];
    for kill in 0.. {
        let Some(now) = killed(&steps, kill) else { break };
        assert!(now == before || now == after, "write {kill}: {now:#?}");
        seen[usize::from(now == after)] += 1;
    }
    assert!(seen[0] > 30 && seen[1] > 15, "{seen:?}");
}

fn taking_back_killed_at_each_write_the_tree_is_old_or_new() {
    let steps = all_kinds();
    let [before, after] = ends(&steps).expect("it can be made");
    let mut seen = [0, 0];
    for kill in 0.. {
        let workspace = Workspace::new(FILES);
        if !is_killed(&workspace, &json!({ "steps": steps, "kill": kill, "does": "undo" })) {
            assert_eq!(tree(workspace.root()), before);
            break;
        }
        let now = settled(&workspace, &format!("write {kill}"));
        assert!(now == before || now == after, "write {kill}: {now:#?}");
        seen[usize::from(now == before)] += 1;
    }
    assert!(seen[0] > 20 && seen[1] > 15, "{seen:?}");
}

fn whoever_settles_it_is_killed_at_each_write_too() {
    let steps = all_kinds();
    let [before, after] = ends(&steps).expect("it can be made");
    let (mut seen, mut kills) = ([0, 0], 0);
    for kill in (1..).step_by(6) {
        let workspace = Workspace::new(FILES);
        if !is_killed(&workspace, &json!({ "steps": steps, "kill": kill })) {
            break;
        }
        // Each time it comes one write further, as far as those before it have left anything to do.
        kills += (0..).take_while(|more| is_killed(&workspace, &json!({ "kill": more, "does": "recover" }))).count();
        let now = settled(&workspace, &format!("write {kill}"));
        assert!(now == before || now == after, "write {kill}: {now:#?}");
        seen[usize::from(now == after)] += 1;
    }
    assert!(seen[0] > 3 && seen[1] > 2 && kills > 40, "{seen:?}, {kills}");
}

fn random_changes_killed_anywhere() {
    let names = ["a.rs", "b.rs", "dir/c.rs", "dir/in/d.rs", "dir", "old", "old/f", "x.rs", "y/z.rs", "dir/in"];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap()
    };
    let mut kills = 0;
    while kills < 60 {
        let verbs = ["insert", "create", "rename", "delete", "insert", "rename"];
        let one = |next: &mut dyn FnMut(usize) -> usize| {
            let verb = verbs[next(verbs.len())];
            let second = if verb == "rename" { names[next(names.len())] } else { "text\n" };
            json!([verb, names[next(names.len())], second])
        };
        let steps: Vec<Value> = (0..2 + next(4)).map(|_| one(&mut next)).collect();
        let steps = Value::from(steps);
        let Some([before, after]) = ends(&steps) else { continue };
        for _ in 0..4 {
            let kill = next(60);
            let Some(now) = killed(&steps, kill) else { continue };
            assert!(now == before || now == after, "{steps}, write {kill}: {now:#?}");
            kills += 1;
        }
    }
}

fn writers_in_several_processes_do_not_interleave() {
    let files: String = (0..12).map(|at| format!("//- f{at:02}\n.\n")).collect();
    let workspace = Workspace::new(&files);
    let letters = ["a", "b", "c"];
    let all: Vec<Child> =
        letters.iter().map(|letter| spawn(&workspace, &json!({ "append": letter, "times": 5 }))).collect();
    for mut child in all {
        assert!(child.wait().unwrap().success());
    }
    let tree = tree(workspace.root());
    assert_eq!(tree.len(), 12, "{:?}", tree.keys());
    let first = tree["f00"].clone();
    assert!(tree.values().all(|text| *text == first), "{tree:#?}");
    for letter in letters {
        assert_eq!(first.matches(letter).count(), 5, "{first}");
    }
}

fn a_thousand_files_cost_at_most_three_times_their_writing() {
    let text = "let name = value;\n".repeat(100);
    let mut ratios = Vec::new();
    // Others use the machine, too: what counts is what it can do.
    for _ in 0..5 {
        let workspace = Workspace::on_disk("");
        let state = workspace.home().join("state");
        let plain = workspace.home().join("plain");
        fs::create_dir_all(&state).unwrap();
        fs::create_dir_all(&plain).unwrap();
        for at in 0..1000 {
            workspace.write(&format!("d{}/f{at}", at % 20), &text);
        }
        let changes = changes(workspace.root(), &state, Hook::default());
        let all = (0..1000).map(|at| insert(FileRef::Path(workspace.path(&format!("d{}/f{at}", at % 20))), "// new\n"));
        let edit = WorkspaceEdit { steps: all.collect(), to_confirm: Vec::new() };
        let disk = Disk::new(5 << 20, 64 << 20);
        let plan = changes.plan(&disk, &edit, Encoding::Utf8, "rename".into(), &|_| None).unwrap();
        let id = changes.keep(1, plan).unwrap();

        let begun = Instant::now();
        for at in 0..1000 {
            let mut file = fs::File::create_new(plain.join(format!("f{at}"))).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.sync_all().unwrap();
        }
        let writing = begun.elapsed();
        let begun = Instant::now();
        assert_eq!(changes.apply(1, &id).unwrap().changed.len(), 1000);
        let applying = begun.elapsed();
        assert!(workspace.read("d7/f7").starts_with("// new\nlet"));
        let ratio = applying.as_secs_f64() / writing.as_secs_f64();
        ratios.push(ratio);
        if ratio <= 3.0 {
            return;
        }
    }
    panic!("applying took too long, as a multiple of writing: {ratios:.2?}");
}
