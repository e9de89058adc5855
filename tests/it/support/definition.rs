//! User definitions of the scripted server, as TOML.

use std::path::{Path, PathBuf};

use super::{Log, Workspace, procs::MARK};
use crate::fake::{SCRIPT, script::Script};

/// A definition to be written into the user's folder.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    name: String,
    scoped: String,
    languages: Vec<String>,
    command: Option<String>,
    script: Option<Script>,
    head: String,
    tables: String,
    env: Vec<(String, String)>,
}

impl Definition {
    /// `local/NAME`, serving Python.
    pub(crate) fn new(name: &str, script: Script) -> Self {
        let languages = vec!["python".into()];
        Self {
            name: name.into(),
            scoped: format!("local/{name}"),
            languages,
            command: None,
            script: Some(script),
            head: String::new(),
            tables: String::new(),
            env: Vec::new(),
        }
    }

    /// One that runs another program than the fake.
    pub(crate) fn command(name: &str, command: &str) -> Self {
        Self { command: Some(command.into()), script: None, ..Self::new(name, Script::new()) }
    }

    /// The name of the definition; that of its files stays.
    pub(crate) fn scoped(mut self, name: &str) -> Self {
        self.scoped = name.into();
        self
    }

    /// The fake, started by another program.
    pub(crate) fn with_command(mut self, command: &str) -> Self {
        self.command = Some(command.into());
        self
    }

    pub(crate) fn languages(mut self, languages: &[&str]) -> Self {
        self.languages = languages.iter().map(|&l| l.to_owned()).collect();
        self
    }

    /// Top-level keys, as TOML lines.
    pub(crate) fn key(mut self, toml: &str) -> Self {
        self.head += &format!("{toml}\n");
        self
    }

    /// A table, as TOML with its header.
    pub(crate) fn table(mut self, toml: &str) -> Self {
        self.tables += &format!("{toml}\n");
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub(crate) fn scoped_name(&self) -> &str {
        &self.scoped
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn log_path(&self, home: &Path) -> PathBuf {
        home.join(format!("{}.log", self.name))
    }

    /// Writes the definition and its script; answers with the server's log.
    pub(crate) fn write(&self, workspace: &Workspace) -> Log {
        let home = workspace.home();
        let log = self.log_path(&home);
        let quote = |text: &str| serde_json::to_string(text).expect("text is JSON");
        let mut env = self.env.clone();
        env.push((MARK.into(), workspace.mark_text()));
        let this = || std::env::current_exe().expect("this program").to_string_lossy().into_owned();
        let command = match (&self.command, &self.script) {
            (Some(command), None) => command.clone(),
            (command, script) => {
                let path = home.join(format!("{}.script.json", self.name));
                let script = Script { log: log.clone(), ..script.clone().unwrap_or_default() };
                std::fs::write(&path, serde_json::to_vec(&script).expect("a script is JSON")).expect("a script");
                env.push((SCRIPT.into(), path.to_string_lossy().into_owned()));
                command.clone().unwrap_or_else(this)
            }
        };
        let languages: Vec<String> = self.languages.iter().map(|l| quote(l)).collect();
        let env: Vec<String> = env.iter().map(|(k, v)| format!("{k} = {}\n", quote(v))).collect();
        let toml = format!(
            "name = {}\ncommand = {}\nlanguages = [{}]\n{}\n[env]\n{}\n{}",
            quote(&self.scoped),
            quote(&command),
            languages.join(", "),
            self.head,
            env.concat(),
            self.tables
        );
        let folder = home.join("config/servers.d");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(format!("{}.toml", self.name)), toml).expect("a definition");
        Log::new(&log)
    }
}
