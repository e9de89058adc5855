//! The command-line clients themselves, from npm: each reads the file of `examples/clients` and says that langport is
//! connected, as far as it says so without an account. They get a home folder of their own and no credentials.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::servers;
use crate::{
    clients,
    support::{
        Era, Mcp, Workspace,
        procs::{self, MARK},
        within,
    },
};

/// How long a client may take: each looks for its own servers and updates first, and this machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client, with its package, and the program in it that needs no set-up by scripts.
struct Client {
    name: &'static str,
    package: &'static str,
    version: &'static str,
    /// Below `node_modules`; `*` stands for the platform.
    program: &'static str,
    /// Run by Node.js.
    script: bool,
}

const CLAUDE: Client = Client {
    name: "claude",
    package: "@anthropic-ai/claude-code",
    version: "2.1.332",
    program: "@anthropic-ai/claude-code-*/claude",
    script: false,
};
const OPENCODE: Client = Client {
    name: "opencode",
    package: "opencode-ai",
    version: "1.18.33",
    program: "opencode-*/bin/opencode",
    script: false,
};
const CODEX: Client = Client {
    name: "codex",
    package: "@openai/codex",
    version: "0.171.0",
    program: "@openai/codex/bin/codex.js",
    script: true,
};
const GEMINI: Client = Client {
    name: "gemini",
    package: "@google/gemini-cli",
    version: "0.61.0",
    program: "@google/gemini-cli/bundle/gemini.js",
    script: true,
};

/// What every client needs on this machine.
pub(super) fn missing() -> Option<&'static str> {
    static WORKS: OnceLock<bool> = OnceLock::new();
    let works = || ["npm", "node"].iter().all(|name| servers::works(Command::new(name).arg("--version")));
    (!WORKS.get_or_init(works)).then_some("npm is missing")
}

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 6] = [
        ("claude_code_connects_by_the_line_of_the_readme", claude_by_its_line),
        ("claude_code_connects_by_the_file_in_the_project", claude_by_the_file),
        ("opencode_connects_by_the_file_in_the_project", opencode),
        ("codex_connects_by_the_file_in_the_home_folder", codex),
        ("codex_connects_by_the_line_of_the_readme", codex_by_its_line),
        ("gemini_connects_by_the_file_in_the_project", gemini),
    ];
    tests.into_iter().map(|(name, test)| trial(&format!("real::clients::{name}"), test)).collect()
}

fn trial(name: &str, test: fn()) -> Trial {
    let Some(missing) = missing().filter(|_| !servers::all_must_run()) else {
        return Trial::test(name.to_owned(), move || {
            test();
            Ok(())
        });
    };
    Trial::test(format!("{name} [not run: {missing}]"), move || Err(missing.into())).with_ignored_flag(true)
}

impl Client {
    /// Installs it below the target folder, unless it is there; answers with the program.
    #[track_caller]
    fn put_in_place(&self) -> PathBuf {
        let folder = servers::folder().join("clients").join(format!("{}-{}", self.name, self.version));
        let put = || {
            fs::create_dir_all(folder.parent().expect("a parent")).map_err(|error| error.to_string())?;
            // Another test, or another run, may be at it.
            let lock = File::create(folder.with_extension("lock")).map_err(|error| error.to_string())?;
            lock.lock().map_err(|error| error.to_string())?;
            servers::once(&folder, |folder| {
                let mut npm = Command::new("npm");
                npm.args(["install", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix"]).arg(folder);
                servers::run(npm.arg(format!("{}@{}", self.package, self.version)).current_dir(folder))
            })
        };
        put().unwrap_or_else(|error| panic!("{} could not be put in place: {error}", self.name));
        let modules = folder.join("node_modules");
        let programs = matching(&modules, self.program);
        // Of several builds for this platform, the first that this processor can run.
        let works = |program: &PathBuf| self.script || servers::works(Command::new(program).arg("--version"));
        programs.into_iter().find(works).unwrap_or_else(|| panic!("{} has no {}", modules.display(), self.program))
    }

    /// A command of the client's in the workspace, which finds langport on its PATH.
    fn command(&self, ws: &Workspace, args: &[&str]) -> Command {
        let program = self.put_in_place();
        let mut command = if self.script { Command::new("node") } else { Command::new(&program) };
        if self.script {
            command.arg(&program);
        }
        let (home, bin) = (ws.home().join("home"), ws.home().join("bin"));
        for folder in [&home, &bin] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let langport = bin.join("langport");
        if !langport.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_langport"), langport).expect("a link");
        }
        let path = std::env::var("PATH").unwrap_or_default();
        command.args(args).current_dir(ws.root()).env_clear();
        command.env("HOME", &home).env("PATH", format!("{}:{path}", bin.display())).env("TERM", "dumb");
        command.env("NO_COLOR", "1").env(MARK, ws.mark_text());
        // Nothing but the question: no updates, no reports.
        command.env("DISABLE_AUTOUPDATER", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
        command
    }

    /// Runs a command of the client's to its end; answers with what it printed, without colours.
    #[track_caller]
    fn says(&self, ws: &Workspace, args: &[&str]) -> String {
        let printed = ws.home().join("printed");
        let file = File::create(&printed).expect("a file");
        let mut command = self.command(ws, args);
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("the same file")).stderr(file).process_group(0);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let status = within(PATIENCE, || child.try_wait().expect("a child"));
        if status.is_none() {
            // The whole group: some of them are a script around the program.
            let group = i32::try_from(child.id()).expect("a pid fits");
            // SAFETY: a signal to a group that this test made.
            unsafe { libc::kill(-group, libc::SIGKILL) };
            let _ = child.wait();
        }
        let said = plain(&fs::read_to_string(&printed).unwrap_or_default());
        assert!(status.is_some_and(|status| status.success()), "{} {args:?}: {status:?}\n{said}", self.name);
        nothing_stays(ws);
        said
    }
}

/// langport goes when its client does.
#[track_caller]
fn nothing_stays(ws: &Workspace) {
    let langports = || {
        let all = procs::marked(&ws.mark_text()).into_iter();
        all.filter(|(_, command)| command.contains("langport serve")).collect::<Vec<_>>()
    };
    let gone = within(Duration::from_secs(10), || langports().is_empty().then_some(()));
    assert!(gone.is_some(), "left behind: {:?}", langports());
    // What the client itself leaves running is not langport's.
    for pid in procs::marked(&ws.mark_text()).into_keys() {
        procs::signal(pid, libc::SIGKILL);
    }
}

/// Files below a folder whose path has one part with a `*` in it.
fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![folder.join(pattern)] };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let entries = fs::read_dir(folder.join(parent)).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path().join(after.trim_start_matches('/')))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found
}

/// Without the escape sequences of colours.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |end| end + 1);
        plain += &part[end..];
    }
    plain
}

/// A project with the client's file in it.
fn project(file: &str, to: &str) -> Workspace {
    let ws = Workspace::new("//- a.py\nx = 1\n");
    let text = fs::read_to_string(clients::folder().join(file)).expect("an example");
    ws.write(to, &text);
    ws
}

/// A file in the client's home folder.
fn at_home(ws: &Workspace, path: &str, text: &str) {
    let path = ws.home().join("home").join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The line that tells of langport.
#[track_caller]
fn line<'t>(said: &'t str, words: &[&str]) -> &'t str {
    let found = said.lines().find(|line| words.iter().all(|word| line.contains(word)));
    found.unwrap_or_else(|| panic!("no line with {words:?} in\n{said}"))
}

fn claude_by_its_line() {
    let ws = Workspace::new("//- a.py\nx = 1\n");
    line(&CLAUDE.says(&ws, &["mcp", "add", "langport", "--", "langport", "serve"]), &["Added", "langport"]);
    line(&CLAUDE.says(&ws, &["mcp", "list"]), &["langport: langport serve", "Connected"]);
}

fn claude_by_the_file() {
    let ws = project("claude-code/.mcp.json", ".mcp.json");
    // A file of the project counts once the person has agreed, which is all that is missing here.
    line(&CLAUDE.says(&ws, &["mcp", "list"]), &["langport: langport serve", "Pending approval"]);
    let agreed = json!({"hasTrustDialogAccepted": true, "enabledMcpjsonServers": ["langport"]});
    let root = ws.root().display().to_string();
    at_home(&ws, ".claude.json", &json!({"projects": {root: agreed}}).to_string());
    line(&CLAUDE.says(&ws, &["mcp", "list"]), &["langport: langport serve --root", "Connected"]);
}

fn opencode() {
    let ws = project("opencode/opencode.json", "opencode.json");
    line(&OPENCODE.says(&ws, &["mcp", "list"]), &["langport", "connected"]);
}

fn gemini() {
    let ws = project("gemini/.gemini/settings.json", ".gemini/settings.json");
    // Gemini starts nothing in a folder that the person does not trust.
    let root = ws.root().display().to_string();
    at_home(&ws, ".gemini/trustedFolders.json", &json!({root: "TRUST_FOLDER"}).to_string());
    line(&GEMINI.says(&ws, &["mcp", "list"]), &["langport: langport serve (stdio)", "Connected"]);
}

fn codex() {
    let ws = Workspace::new("//- a.py\nx = 1\n");
    let text = fs::read_to_string(clients::folder().join("codex/.codex/config.toml")).expect("an example");
    at_home(&ws, ".codex/config.toml", &text);
    codex_connects(&ws);
}

fn codex_by_its_line() {
    let ws = Workspace::new("//- a.py\nx = 1\n");
    at_home(&ws, ".codex/config.toml", "");
    line(&CODEX.says(&ws, &["mcp", "add", "langport", "--", "langport", "serve"]), &["Added", "langport"]);
    codex_connects(&ws);
}

/// `codex mcp list` starts nothing; the program behind its windows tells how servers do.
#[track_caller]
fn codex_connects(ws: &Workspace) {
    line(&CODEX.says(ws, &["mcp", "list"]), &["langport", "serve", "enabled"]);
    let mut command = CODEX.command(ws, &["app-server"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("codex starts");
    let codex = Mcp::new(Era::Legacy(""), child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
    let client = json!({"name": "it", "version": "1"});
    codex.raw(&json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}).to_string());
    let hello = codex.wait_for(1, PATIENCE);
    codex.raw(&json!({"method": "initialized"}).to_string());
    codex.raw(&json!({"id": 2, "method": "mcpServerStatus/list", "params": {}}).to_string());
    let answer = codex.wait_for(2, PATIENCE);
    codex.hang_up();
    if within(Duration::from_secs(10), || child.try_wait().expect("a child")).is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    assert!(hello.is_some(), "codex does not introduce itself");
    let (_, answer) = answer.expect("codex tells how its servers do");
    let server = &answer["result"]["data"][0];
    assert_eq!((&server["name"], &server["serverInfo"]["name"]), (&json!("langport"), &json!("langport")), "{answer}");
    let tools: Vec<&String> = server["tools"].as_object().into_iter().flat_map(|tools| tools.keys()).collect();
    assert!(tools.iter().any(|name| *name == "lsp_hover") && tools.len() > 10, "{tools:?}");
    assert_eq!(server["runtimeStatus"].as_str().unwrap_or("connected"), "connected", "{}", Value::clone(server));
    nothing_stays(ws);
}
