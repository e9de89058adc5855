//! langport under test: started with folders of its own, and proven to leave nothing behind when it is dropped.

use std::{
    fs,
    ops::Deref,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    Answer, BUSY, Definition, Era, Log, Mcp, Workspace,
    procs::{self, MARK},
    within,
};

/// How long langport may take to go: five seconds in all, on an idle machine.
const GOODBYE: Duration = Duration::from_secs(5).saturating_add(BUSY);

/// How langport is started.
pub(crate) struct Builder<'w> {
    workspace: &'w Workspace,
    definitions: Vec<Definition>,
    bind: bool,
    roots: Vec<PathBuf>,
    config: String,
    env: Vec<(String, String)>,
    args: Vec<String>,
    era: Era,
    greet: bool,
}

/// A running langport with its client. Derefs to the client.
pub(crate) struct Langport {
    child: Child,
    mcp: Mcp,
    home: PathBuf,
    mark: String,
    logs: Vec<(String, Log)>,
    /// The server's introduction.
    pub(crate) hello: Value,
    gone: Option<ExitStatus>,
    tolerant: bool,
}

impl Builder<'_> {
    /// Adds a server. Every server is bound by name unless [`auto`](Self::auto) is asked for.
    pub(crate) fn server(mut self, definition: Definition) -> Self {
        self.definitions.push(definition);
        self
    }

    /// Binds nothing by name.
    pub(crate) fn auto(mut self) -> Self {
        self.bind = false;
        self
    }

    /// Roots other than the workspace's own.
    pub(crate) fn roots(mut self, roots: &[PathBuf]) -> Self {
        self.roots = roots.to_vec();
        self
    }

    /// Lines of the user's `config.toml`.
    pub(crate) fn config(mut self, toml: &str) -> Self {
        self.config += &format!("{toml}\n");
        self
    }

    /// The longest that a call may take.
    pub(crate) fn max_wait(self, ms: u64) -> Self {
        self.config(&format!("max_wait_ms = {ms}"))
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub(crate) fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Leaves the introduction to the test.
    pub(crate) fn silent(mut self) -> Self {
        self.greet = false;
        self
    }

    /// The command, with everything but the pipes.
    pub(crate) fn command(&self) -> (Command, Vec<(String, Log)>) {
        let home = self.workspace.home();
        let logs = self.definitions.iter().map(|d| (d.name().to_owned(), d.write(self.workspace))).collect();
        fs::create_dir_all(home.join("config")).expect("a folder");
        fs::write(home.join("config/config.toml"), &self.config).expect("a configuration");
        let mut command = Command::new(env!("CARGO_BIN_EXE_langport"));
        command.arg("serve");
        let own = vec![self.workspace.root().to_path_buf()];
        for root in if self.roots.is_empty() { &own } else { &self.roots } {
            command.arg("--root").arg(root);
        }
        if self.bind {
            for definition in &self.definitions {
                command.args(["--bind", definition.scoped_name()]);
            }
        }
        command.args(&self.args).current_dir(self.workspace.root());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &home);
        for (name, folder) in [("CONFIG", "config"), ("STATE", "state"), ("DATA", "data")] {
            command.env(format!("LANGPORT_{name}_DIR"), home.join(folder));
        }
        command.env(MARK, self.workspace.mark_text()).envs(self.env.iter().map(|(k, v)| (k, v)));
        let stderr = fs::File::create(home.join("stderr")).expect("a file for stderr");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        (command, logs)
    }

    #[track_caller]
    pub(crate) fn start(self) -> Langport {
        let (mut command, logs) = self.command();
        let mut child = command.spawn().expect("langport starts");
        let input = child.stdout.take().expect("a pipe");
        let output = child.stdin.take().expect("a pipe");
        let mcp = Mcp::new(self.era, input, output);
        let mark = self.workspace.mark_text();
        let home = self.workspace.home();
        let mut langport = Langport { child, mcp, home, mark, logs, hello: Value::Null, gone: None, tolerant: false };
        if self.greet {
            langport.hello = langport.mcp.greet();
        }
        langport
    }
}

impl Langport {
    pub(crate) fn builder(workspace: &Workspace) -> Builder<'_> {
        Builder {
            workspace,
            definitions: Vec::new(),
            bind: true,
            roots: Vec::new(),
            config: String::new(),
            env: Vec::new(),
            args: Vec::new(),
            era: Era::Legacy("2025-06-18"),
            greet: true,
        }
    }

    /// One server named `fake`, bound, for Python.
    #[track_caller]
    pub(crate) fn with(workspace: &Workspace, script: crate::fake::script::Script) -> Self {
        Self::builder(workspace).server(Definition::new("fake", script)).start()
    }

    /// Calls `lsp_NAME`.
    #[track_caller]
    pub(crate) fn tool(&self, name: &str, arguments: &Value) -> Answer {
        Answer::of(&self.mcp.answer(self.mcp.call(&format!("lsp_{name}"), arguments)))
    }

    #[track_caller]
    pub(crate) fn hover(&self, at: &Value) -> Answer {
        self.tool("hover", at)
    }

    #[track_caller]
    pub(crate) fn diagnostics(&self, file: &str) -> Answer {
        self.tool("diagnostics", &json!({"file_path": file}))
    }

    /// The log of the only server.
    pub(crate) fn log(&self) -> &Log {
        &self.logs[0].1
    }

    pub(crate) fn log_of(&self, name: &str) -> &Log {
        &self.logs.iter().find(|(n, _)| n == name).expect("a server of that name").1
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What langport wrote to its stderr.
    pub(crate) fn stderr(&self) -> String {
        fs::read(self.home.join("stderr")).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
    }

    /// The servers of this test break the rules on purpose, or langport is killed: only leftovers count.
    pub(crate) fn tolerate(&mut self) {
        self.tolerant = true;
    }

    /// Waits for the end of langport, which something else has asked for.
    pub(crate) fn gone_within(&mut self, time: Duration) -> Option<ExitStatus> {
        self.gone = within(time, || self.child.try_wait().ok().flatten());
        self.gone
    }

    /// Closes langport's stdin and waits for its end.
    pub(crate) fn hang_up(&mut self) -> Option<ExitStatus> {
        self.mcp.hang_up();
        self.gone_within(GOODBYE)
    }

    /// Processes of this test that are still there after a moment's grace.
    pub(crate) fn left(&self) -> Vec<(u32, String)> {
        let mut left = Vec::new();
        let _ = within(BUSY, || {
            left = procs::marked(&self.mark).into_iter().collect();
            left.is_empty().then_some(())
        });
        left
    }

    fn tails(&self) -> String {
        let tail = |text: &str| {
            text.lines().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
        };
        let mut shown = format!("stderr of langport:\n{}\n", tail(&self.stderr()));
        for (name, log) in &self.logs {
            let lines: Vec<String> = log.lines().iter().map(|l| l.to_string().chars().take(300).collect()).collect();
            shown += &format!("log of {name}:\n{}\n", tail(&lines.join("\n")));
        }
        shown
    }
}

impl Deref for Langport {
    type Target = Mcp;

    fn deref(&self) -> &Mcp {
        &self.mcp
    }
}

impl Drop for Langport {
    fn drop(&mut self) {
        let asked = self.gone.is_none();
        let status = self.gone.or_else(|| self.hang_up());
        let left = if status.is_some() { self.left() } else { Vec::new() };
        let tails = self.tails();
        if status.is_none() || !left.is_empty() {
            let _ = self.child.kill();
            let _ = self.child.wait();
            for pid in procs::marked(&self.mark).into_keys() {
                procs::signal(pid, libc::SIGKILL);
            }
        }
        if std::thread::panicking() {
            eprintln!("{tails}");
            return;
        }
        assert!(status.is_some(), "langport is still there {GOODBYE:?} after the end of its stdin\n{tails}");
        assert!(left.is_empty(), "left behind: {left:?}\n{tails}");
        assert!(self.mcp.wrong().is_empty(), "wrong on stdout: {:?}\n{tails}", self.mcp.wrong());
        if !self.tolerant {
            assert!(
                !asked || status.is_some_and(|s| s.code() == Some(0)),
                "langport ends with 0, not {status:?}\n{tails}"
            );
            for (name, log) in &self.logs {
                assert!(log.violations().is_empty(), "{name} was treated wrongly: {:?}\n{tails}", log.violations());
            }
        }
    }
}
