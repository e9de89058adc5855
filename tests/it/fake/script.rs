//! What a scripted server does: a small file that a test writes and the fake server reads.
//! Whatever the script does not mention, the fake does by itself, from the text it was told.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The whole script.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// Everything received and every event, one JSON object a line.
    pub(crate) log: PathBuf,
    /// `serverInfo.name`.
    pub(crate) name: String,
    pub(crate) capabilities: Value,
    /// `positionEncoding` of the answer to `initialize`.
    pub(crate) encoding: Option<String>,
    /// clangd's older `offsetEncoding`, beside the capabilities.
    pub(crate) old_encoding: Option<String>,
    /// By method (or `start`): what to do the first, second, … time; the last repeats.
    pub(crate) on: BTreeMap<String, Vec<Vec<Act>>>,
    pub(crate) publish: Publish,
    /// Does not read the folder when it starts.
    #[serde(default)]
    pub(crate) unread: bool,
    /// A request that the fake does not know, or whose provider is not among the capabilities, is never answered.
    pub(crate) unknown_silent: bool,
    /// Pulls are answered although the capabilities do not offer them: they are registered later.
    pub(crate) pull_registered: bool,
    pub(crate) ignore_term: bool,
    /// Goes on after `exit` and after the end of stdin.
    pub(crate) ignore_exit: bool,
    /// Listens here, for one client, instead of using its pipes.
    #[serde(default)]
    pub(crate) address: Option<String>,
}

/// One step of a behaviour. A request whose steps end without an answer is never answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
    /// Answers; the strings `$uri` and `$root` stand for the asked document and the root.
    Reply(Value),
    Fail(i64, String),
    /// What the fake does by itself.
    Default,
    /// The steps from here on are for the first N starts of the server only; later ones do `Default`.
    FirstStarts(usize),
    /// The same for the starts from this one to that one.
    Starts(usize, usize),
    Sleep(u64),
    /// Waits for a file that the test creates.
    Await(PathBuf),
    /// Answers with so many locations in the asked document.
    Locations(usize),
    /// Answers with a hover of so many bytes.
    Hover(usize),
    /// The same, written as it comes: for answers that take the fake itself too long.
    LargeHover(usize),
    /// Answers a rename with one replacement of so many bytes, written as it comes.
    LargeRename(usize),
    /// A frame made of a beginning, in which `$id` stands for the request's id, one piece so many times, and an end.
    Pieces {
        head: String,
        piece: String,
        times: usize,
        tail: String,
    },
    /// Answers with so many completion items, each with documentation of so many bytes.
    Completions(usize, usize),
    /// Answers references with one more of them each time, until the named progress has ended.
    Growing(String),
    Exit(i32),
    /// Kills itself, as the kernel does when memory is short.
    Die,
    Ask(Ask),
    Tell(String, Value),
    /// Bytes for stdout, not framed.
    Raw(String),
    /// A frame with this text, in which `$id` stands for the request's id, and `$bad` for bytes that are no text.
    RawReply(String),
    /// What the fake answers by itself, behind this header, in which `$length` stands for the length.
    Headed(String),
    /// Bytes for stdout, not framed, that are no text.
    Bytes(Vec<u8>),
    /// Bytes for stdout, one at a time with so many milliseconds between them.
    Drip(String, u64),
    /// The same text to stdout so many times.
    RawTimes(String, usize),
    /// The same with `$n` in it, which counts from 0 in six digits.
    RawCounted(String, usize),
    /// Tells of so many hints, and behind them of so many errors, each with a message of so many bytes: as the answer to a
    /// pull, or pushed for the document of the message.
    Flood {
        errors: usize,
        hints: usize,
        bytes: usize,
    },
    /// The same with so many errors under this source, of which a cut of the list keeps only a part.
    FloodOf(String, usize),
    /// Takes so many MiB of memory.
    Eat(usize),
    /// The same line to stderr so many times.
    Stderr(String, usize),
    StopReading,
    /// Reads nothing after this message until the file is there.
    HoldReading(PathBuf),
    /// Creates a file that others wait for.
    Open(PathBuf),
    /// Takes a lock that one process at a time can have, or says so and ends.
    Lock(PathBuf),
    /// Closes its stdout, and lives on.
    CloseOutput,
    /// Closes its stdin, and lives on.
    CloseInput,
    /// Starts a process in a session of its own which outlives its parent.
    Grandchild,
    /// Starts a daemon: forked twice, in a session of its own, deaf to every polite signal.
    Daemon,
    /// Answers a rename in the form of `changes`.
    RenameAsChanges,
    /// Publishes for the document of the message as the script's `publish` says.
    Publish,
}

/// A request of the server's own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
    /// Nothing else is handled until the answer is there.
    pub(crate) block: bool,
    /// An answer with an error ends the server.
    pub(crate) exit_on_error: bool,
}

impl Ask {
    pub(crate) fn new(id: impl Into<Value>, method: &str, params: Value) -> Self {
        Self { id: id.into(), method: method.into(), params, block: false, exit_on_error: false }
    }

    pub(crate) fn block(mut self) -> Self {
        self.block = true;
        self
    }

    pub(crate) fn exit_on_error(mut self) -> Self {
        self.exit_on_error = true;
        self
    }
}

impl From<Ask> for Act {
    fn from(ask: Ask) -> Self {
        Self::Ask(ask)
    }
}

/// When and what the fake publishes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Publish {
    pub(crate) on_open: bool,
    pub(crate) on_change: bool,
    pub(crate) on_save: bool,
    pub(crate) versioned: bool,
    /// Lists of texts that have been replaced meanwhile are published all the same.
    pub(crate) outdated: bool,
    /// Nothing is published for a file without problems.
    pub(crate) silent_when_clean: bool,
    pub(crate) steps: Vec<Step>,
    /// Instead of `steps`, for changes.
    pub(crate) change_steps: Option<Vec<Step>>,
}

/// One step of publishing.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    Sleep(u64),
    Await(PathBuf),
    /// Waits for the file of this name with `-VERSION` behind it.
    AwaitVersion(PathBuf),
    Full,
    Empty,
    /// Only the first problem.
    First,
    /// Progress with this title and token.
    Begin(String),
    End(String),
}

impl Default for Publish {
    fn default() -> Self {
        Self {
            on_open: true,
            on_change: true,
            on_save: false,
            versioned: true,
            outdated: false,
            silent_when_clean: false,
            steps: vec![Step::Full],
            change_steps: None,
        }
    }
}

impl Publish {
    pub(crate) fn never() -> Self {
        Self { on_open: false, on_change: false, ..Self::default() }
    }

    pub(crate) fn steps(steps: impl Into<Vec<Step>>) -> Self {
        Self { steps: steps.into(), ..Self::default() }
    }
}

impl Default for Script {
    fn default() -> Self {
        Self {
            log: PathBuf::new(),
            name: "fake".into(),
            capabilities: all_capabilities(),
            encoding: None,
            old_encoding: None,
            on: BTreeMap::new(),
            publish: Publish::default(),
            unread: false,
            unknown_silent: false,
            pull_registered: false,
            ignore_term: false,
            ignore_exit: false,
            address: None,
        }
    }
}

/// Everything that the fake can do by itself, diagnostics pushed.
pub(crate) fn all_capabilities() -> Value {
    json!({
        "textDocumentSync": {"openClose": true, "change": 2, "save": true},
        "hoverProvider": true, "definitionProvider": true, "declarationProvider": true, "typeDefinitionProvider": true,
        "implementationProvider": true, "referencesProvider": true, "documentSymbolProvider": true,
        "workspaceSymbolProvider": true, "completionProvider": {}, "signatureHelpProvider": {"triggerCharacters": ["("]},
        "callHierarchyProvider": true, "typeHierarchyProvider": true, "renameProvider": {"prepareProvider": true},
        "documentFormattingProvider": true, "documentRangeFormattingProvider": true, "codeActionProvider": true
    })
}

impl Script {
    /// Does all by itself.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// As `new`, and asks to be told of every changed file once it runs.
    pub(crate) fn watching(pattern: &str) -> Self {
        Self::new().on("initialized", [watch(pattern).into()])
    }

    /// Does this every time that `method` comes.
    pub(crate) fn on(mut self, method: &str, acts: impl Into<Vec<Act>>) -> Self {
        self.on.insert(method.into(), vec![acts.into()]);
        self
    }

    /// Does this the first time, that the second, …; the last repeats.
    pub(crate) fn each(mut self, method: &str, turns: impl Into<Vec<Vec<Act>>>) -> Self {
        self.on.insert(method.into(), turns.into());
        self
    }

    pub(crate) fn publish(mut self, publish: Publish) -> Self {
        self.publish = publish;
        self
    }

    /// Replaces, adds or (with null) takes away one capability.
    pub(crate) fn capability(mut self, name: &str, value: Value) -> Self {
        let map = self.capabilities.as_object_mut().expect("capabilities are an object");
        if value.is_null() {
            map.remove(name);
        } else {
            map.insert(name.into(), value);
        }
        self
    }

    pub(crate) fn capabilities(mut self, value: Value) -> Self {
        self.capabilities = value;
        self
    }

    pub(crate) fn encoding(mut self, name: &str) -> Self {
        self.encoding = Some(name.into());
        self
    }

    /// Diagnostics are pulled, never pushed.
    pub(crate) fn pull(self) -> Self {
        let provider = json!({"interFileDependencies": true, "workspaceDiagnostics": false});
        self.capability("diagnosticProvider", provider).publish(Publish::never())
    }
}

/// Registers watched files with this glob.
pub(crate) fn watch(pattern: &str) -> Ask {
    let options = json!({"watchers": [{"globPattern": pattern}]});
    register("watch-1", "workspace/didChangeWatchedFiles", options)
}

/// Registers a method.
pub(crate) fn register(id: &str, method: &str, options: Value) -> Ask {
    let registration = json!({"id": id, "method": method, "registerOptions": options});
    Ask::new(format!("ask-{id}"), "client/registerCapability", json!({"registrations": [registration]}))
}
