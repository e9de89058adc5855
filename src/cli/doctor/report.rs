//! What a doctor's visit found: the same facts as JSON, whose names stay, and as text.

use serde::Serialize;

use super::own::Own;
use crate::{
    config::{Capability, count},
    registry::{Entry, Role},
    sys::lookup,
};

/// Everything that was found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Nothing that is installed or configured fails.
    pub ok: bool,
    pub langport: Own,
    pub servers: Vec<Server>,
    /// Languages of the project that no definition serves.
    pub unserved: Vec<String>,
}

/// One definition and its server.
#[derive(Debug, Serialize)]
pub(super) struct Server {
    pub name: String,
    pub languages: Vec<String>,
    pub role: &'static str,
    pub scope: &'static str,
    pub source: String,
    pub state: Standing,
    pub program: Option<String>,
    pub from: Option<From>,
    /// What langport installed: `npm pyright@1.1.414`.
    pub installed: Option<String>,
    /// The definition asks for another version than what langport installed.
    pub outdated: bool,
    /// Where it was started; null: in an empty folder.
    pub root: Option<String>,
    /// Spawn and handshake, in milliseconds.
    pub start_ms: Option<u64>,
    pub calls_itself: Option<String>,
    /// Both together, for people.
    #[serde(skip)]
    pub says: Option<String>,
    pub version: Option<String>,
    /// What it offers; null where it was not started.
    pub capabilities: Option<Vec<Capability>>,
    /// `pull` or `push`.
    pub diagnostics: Option<&'static str>,
    pub encoding: Option<&'static str>,
    pub problem: Option<String>,
    /// The last that it wrote to its stderr.
    pub output: Vec<String>,
    /// What to do.
    pub mend: Option<String>,
    pub remarks: Vec<String>,
}

/// How a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Standing {
    /// It started and introduced itself.
    Works,
    /// It is here and does not start.
    Fails,
    /// It may not be started: it would run what is in the project.
    Untrusted,
    /// Its definition says nothing that could be started.
    Unusable,
    /// It is not installed.
    Missing,
}

/// Who installed a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum From {
    Langport,
    /// Somebody else; found on PATH or where the definition says.
    Machine,
}

impl Server {
    pub(super) fn of(entry: &Entry, languages: Vec<String>, root: Option<String>) -> Self {
        Self {
            name: entry.name.to_string(),
            languages,
            role: match entry.def.role {
                Role::Primary => "primary",
                Role::Linter => "linter",
            },
            scope: entry.scope.word(),
            source: entry.source.to_string(),
            state: Standing::Fails,
            program: None,
            from: None,
            installed: None,
            outdated: false,
            root,
            start_ms: None,
            calls_itself: None,
            says: None,
            version: None,
            capabilities: None,
            diagnostics: None,
            encoding: None,
            problem: None,
            output: Vec::new(),
            mend: None,
            remarks: Vec::new(),
        }
    }

    pub(super) fn fails(&mut self, problem: String, output: Vec<String>, mend: Option<String>) {
        self.state = Standing::Fails;
        self.problem = Some(problem);
        self.output = output;
        self.mend = mend;
    }

    /// That a program was found, where none may be used.
    fn passed_over(&self) -> &str {
        let problem = self.problem.as_deref().unwrap_or_default();
        lookup::passed_over_in(problem)
    }

    fn text(&self) -> String {
        let languages = self.languages.join(", ");
        let head = match (self.state, self.start_ms) {
            (Standing::Works, Some(ms)) => format!("works, started in {ms} ms"),
            (Standing::Works, None) => "works".to_owned(),
            (Standing::Fails, _) => "does not work".to_owned(),
            (Standing::Untrusted, _) => "is not started".to_owned(),
            (Standing::Unusable, _) => "cannot be started".to_owned(),
            (Standing::Missing, _) => "not installed".to_owned(),
        };
        let mut text = format!("{} ({languages}): {head}\n", self.name);
        let mut row = |label: &str, value: &str| text += &format!("{}\n", format!("    {label:<9} {value}").trim_end());
        if let Some(program) = &self.program {
            let by = match (&self.installed, self.from) {
                (Some(pin), _) => format!(" (installed by langport: {pin})"),
                (None, Some(From::Machine)) => " (found on this machine)".to_owned(),
                (None, _) => String::new(),
            };
            row("program", &format!("{program}{by}"));
        }
        if let Some(says) = self.says.as_ref().filter(|says| !says.is_empty()) {
            row("says", says);
        }
        if let Some(root) = &self.root {
            row("root", root);
        }
        if let Some(capabilities) = &self.capabilities {
            let words: Vec<_> = capabilities.iter().map(|capability| capability.word()).collect();
            row("can", &if words.is_empty() { "nothing that it tells".to_owned() } else { words.join(", ") });
        }
        if let Some(problem) = &self.problem {
            row("problem", problem);
        }
        for line in &self.output {
            row("", &format!("| {line}"));
        }
        for remark in &self.remarks {
            row("remark", remark);
        }
        if let Some(mend) = &self.mend {
            row("mend", mend);
        }
        text
    }
}

impl Report {
    pub(super) fn new(langport: Own, servers: Vec<Server>, unserved: Vec<String>) -> Self {
        let sick = |server: &Server| matches!(server.state, Standing::Fails | Standing::Unusable);
        let ok = langport.ok() && !servers.iter().any(sick);
        Self { ok, langport, servers, unserved }
    }

    pub(super) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    pub(super) fn text(&self) -> String {
        let own = &self.langport;
        let mut text = format!("langport {}: {}\n", own.version, own.program);
        let mut row = |label: &str, value: &str| text += &format!("    {label:<14} {value}\n");
        for folder in &own.folders {
            row(folder.purpose, &format!("{}{}", folder.path, folder.remark()));
        }
        if own.managed {
            row("managed", "by /etc/langport, which takes the place of the configuration");
        }
        row("watcher", &format!("{}: {}", own.watcher.folder, own.watcher.says));
        for problem in &own.problems {
            row("problem", problem);
        }
        let (missing, here): (Vec<_>, Vec<_>) =
            self.servers.iter().partition(|server| server.state == Standing::Missing);
        for server in &here {
            text += &format!("\n{}", server.text());
        }
        let tried = here.iter().filter(|server| server.state != Standing::Untrusted).count();
        if !missing.is_empty() {
            let cells = |server: &&Server| {
                let mend = server.mend.clone().unwrap_or_default();
                vec![format!("    {}", server.name), server.languages.join(", "), mend + server.passed_over()]
            };
            let rows: Vec<_> = missing.iter().map(cells).collect();
            text += &format!("\nnot installed:\n{}", crate::cli::out::table(&rows));
        }
        if !self.unserved.is_empty() {
            text += &format!("\nnot served by any definition: {}\n", self.unserved.join(", "));
        }
        let works = here.iter().filter(|server| server.state == Standing::Works).count();
        let untrusted = here.len() - tried;
        text + &format!(
            "\n{works} of {} {}; {} not installed{}{}\n",
            count(tried, "installed server", "installed servers"),
            if works == 1 { "works" } else { "work" },
            missing.len(),
            if untrusted > 0 { format!(", {untrusted} not trusted") } else { String::new() },
            if own.ok() { "" } else { "; langport itself has problems, see above" },
        )
    }
}
