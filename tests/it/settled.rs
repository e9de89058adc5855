//! Folders of definitions in which nothing has happened for a while: they are listed anew only where their stamps tell
//! that something has, and whatever comes, goes or takes their place counts for the next call all the same.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Answer, Definition, Langport, Workspace, eventually},
};

trials![
    x27_what_comes_into_an_old_folder_counts_for_the_next_call,
    x27_what_is_replaced_in_an_old_folder_counts_for_the_next_call,
    x27_another_folder_by_the_name_of_an_old_one_counts_for_the_next_call,
    x27_a_link_to_another_configuration_counts_for_the_next_call,
];

/// So old a folder has to be before its stamps are trusted, and a little more.
const OLD: Duration = Duration::from_millis(3_500);

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn fake() -> Definition {
    Definition::new("fake", Script::new())
}

fn go() -> Definition {
    Definition::new("other", Script::new()).languages(&["go"])
}

fn workspace() -> Workspace {
    Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n")
}

/// With what the user has defined alone.
fn start(ws: &Workspace, definition: Definition) -> Langport {
    Langport::builder(ws).auto().server(definition).env("PATH", "/nowhere").start()
}

fn definitions(ws: &Workspace) -> PathBuf {
    ws.home().join("config/servers.d")
}

/// Calls until nothing has happened in a folder for so long that it is not listed any more, and once more after that.
fn rest(lp: &Langport, folder: &Path) {
    let age = |folder: &Path| folder.metadata().unwrap().modified().unwrap().elapsed().unwrap_or_default();
    eventually("an old folder", || {
        lp.hover(&at("a.py")).fine();
        (age(folder) > OLD).then_some(())
    });
    lp.hover(&at("a.py")).fine();
}

fn status(lp: &Langport) -> Answer {
    lp.tool("status", &json!({"server": "local/fake"}))
}

fn x27_what_comes_into_an_old_folder_counts_for_the_next_call() {
    let ws = workspace();
    let lp = start(&ws, fake());
    rest(&lp, &definitions(&ws));
    lp.hover(&at("b.go")).fails("unavailable");
    go().write(&ws);
    lp.hover(&at("b.go")).fine().contains("WORD beta");
    rest(&lp, &definitions(&ws));
    fs::remove_file(definitions(&ws).join("other.toml")).unwrap();
    lp.hover(&at("b.go")).fails("unavailable");
    // A name that is no definition's, until it is.
    let aside = definitions(&ws).join("other.toml.new");
    go().write(&ws);
    fs::rename(definitions(&ws).join("other.toml"), &aside).unwrap();
    rest(&lp, &definitions(&ws));
    lp.hover(&at("b.go")).fails("unavailable");
    fs::rename(&aside, definitions(&ws).join("other.toml")).unwrap();
    lp.hover(&at("b.go")).fine().contains("WORD beta");
}

fn x27_what_is_replaced_in_an_old_folder_counts_for_the_next_call() {
    let ws = workspace();
    let lp = start(&ws, fake());
    let file = definitions(&ws).join("fake.toml");
    rest(&lp, &definitions(&ws));
    // In place, of which the folder knows nothing.
    let described = |text: &str| fs::read_to_string(&file).unwrap().replacen("command", &format!("{text}\ncommand"), 1);
    fs::write(&file, described("description = \"one\"")).unwrap();
    lp.hover(&at("a.py")).fine();
    status(&lp).contains("read anew once");
    // By another file, which lay elsewhere.
    let beside = ws.home().join("beside");
    fs::write(&beside, described("role = \"primary\"")).unwrap();
    rest(&lp, &definitions(&ws));
    fs::rename(&beside, &file).unwrap();
    lp.hover(&at("a.py")).fine();
    status(&lp).contains("read anew 2 times");
    // By a link, whose target changes then.
    fs::write(&beside, described("group = \"one\"")).unwrap();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&beside, &file).unwrap();
    lp.hover(&at("a.py")).fine();
    status(&lp).contains("read anew 3 times");
    rest(&lp, &definitions(&ws));
    fs::write(&beside, described("unset = \"null\"")).unwrap();
    lp.hover(&at("a.py")).fine();
    status(&lp).contains("read anew 4 times");
}

fn x27_another_folder_by_the_name_of_an_old_one_counts_for_the_next_call() {
    let ws = workspace();
    let lp = start(&ws, fake());
    let (folder, aside) = (definitions(&ws), ws.home().join("aside"));
    rest(&lp, &folder);
    go().write(&ws);
    fs::rename(&folder, &aside).unwrap();
    lp.hover(&at("a.py")).fails("unavailable");
    // Both are old by the time that one takes the other's place.
    fs::create_dir(&folder).unwrap();
    fs::copy(aside.join("fake.toml"), folder.join("fake.toml")).unwrap();
    rest(&lp, &folder);
    lp.hover(&at("b.go")).fails("unavailable");
    fs::rename(&folder, ws.home().join("second")).unwrap();
    fs::rename(&aside, &folder).unwrap();
    lp.hover(&at("b.go")).fine().contains("WORD beta");
    // Settings come into a folder that had none.
    rest(&lp, &folder);
    fs::write(ws.home().join("config/config.toml"), "capabilities = [\"definitions\"]\n").unwrap();
    lp.hover(&at("a.py")).fails("refused");
}

fn x27_a_link_to_another_configuration_counts_for_the_next_call() {
    let ws = workspace();
    let lp = start(&ws, fake());
    let (config, first, second) = (ws.home().join("config"), ws.home().join("first"), ws.home().join("second"));
    fs::create_dir_all(second.join("servers.d")).unwrap();
    fs::copy(config.join("servers.d/fake.toml"), second.join("servers.d/fake.toml")).unwrap();
    go().write(&ws);
    fs::rename(&config, &first).unwrap();
    std::os::unix::fs::symlink(&first, &config).unwrap();
    lp.hover(&at("b.go")).fine().contains("WORD beta");
    rest(&lp, &second.join("servers.d"));
    let point = |target: &Path| {
        let link = ws.home().join("link");
        std::os::unix::fs::symlink(target, &link).unwrap();
        fs::rename(&link, &config).unwrap();
    };
    point(&second);
    lp.hover(&at("b.go")).fails("unavailable");
    lp.hover(&at("a.py")).fine();
    point(&first);
    lp.hover(&at("b.go")).fine().contains("WORD beta");
}
