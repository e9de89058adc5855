//! What answers tool calls: it ties the binding, the ground and the pool together and hands each call to its tool.

use std::{sync::Arc, time::Duration};

use tokio::sync::{RwLock, broadcast};

use crate::{
    binding::Bound,
    edits::{Changes, Policy},
    language::Overrides,
    registry::{self, Capability, DisplayName, Entry, Registry, Surroundings},
    runtime::{event::Event, ground::Ground, pool::Pool},
    sys::awake::while_awake,
};

use super::{
    ToolCall, ToolId,
    action_ids::ActionIds,
    ask::Ask,
    diagnostics::Memory,
    file::failure,
    languages::Present,
    outcome::{Code, Failure, Outcome},
};

/// Kept back from `max_wait`, so that the answer itself is in time: a tenth of it, and no more than this.
const SLACK: Duration = Duration::from_millis(300);

/// How long the end of langport waits for a change that is being made; the next writer finishes what was cut off.
const WRITING: Duration = Duration::from_secs(5);

/// Everything that tools work with, of one generation: it never changes while a call uses it.
#[derive(Clone)]
pub struct Engine {
    pub(super) registry: Arc<Registry>,
    pub(super) bound: Bound,
    pub(super) around: Surroundings,
    pub(super) pool: Arc<Pool>,
    pub(super) ground: Arc<Ground>,
    pub(super) languages: Arc<Overrides>,
    pub(super) limits: ToolLimits,
    pub(super) present: Arc<Present>,
    pub(super) memory: Arc<Memory>,
    pub(super) load_errors: Vec<String>,
    /// What has been set and counts from the next start.
    pub(super) later: Vec<String>,
    pub(super) changes: Arc<Changes>,
    /// Read while a change is being made.
    pub(super) writing: Arc<RwLock<()>>,
    pub(super) actions: Arc<ActionIds>,
}

/// Whose consent a plan needs before it is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confirm {
    /// Nobody's: whoever calls the tool has decided.
    #[default]
    None,
    /// A person's, asked through the client.
    Elicit,
}

/// The limits of answers.
#[derive(Debug, Clone)]
pub struct ToolLimits {
    /// Diagnostics of one file, and of all, on one page.
    pub diagnostics_file: usize,
    pub diagnostics_delivery: usize,
    /// Documents that one server has open at once.
    pub documents: usize,
    /// What servers may be asked for; empty: everything.
    pub capabilities: Vec<Capability>,
    /// No file is changed.
    pub read_only: bool,
    /// The mistake in the settings that is the reason, where one is.
    pub forbidden: Option<String>,
    pub confirm: Confirm,
}

impl ToolLimits {
    fn allows(&self, tool: ToolId) -> bool {
        self.capabilities.is_empty()
            || tool.capability().is_none_or(|capability| self.capabilities.contains(&capability))
    }
}

impl Engine {
    /// Brings the parts together.
    #[expect(
        clippy::too_many_arguments,
        reason = "each part is made by itself, and all of them are brought together once"
    )]
    pub fn new(
        registry: Arc<Registry>,
        bound: Bound,
        around: Surroundings,
        pool: Arc<Pool>,
        languages: Overrides,
        limits: ToolLimits,
        load_errors: Vec<String>,
        changes: Changes,
    ) -> Self {
        let ground = pool.ground().clone();
        Self {
            registry,
            bound,
            around,
            pool,
            ground,
            languages: Arc::new(languages),
            limits,
            present: Arc::default(),
            memory: Arc::default(),
            load_errors,
            later: Vec::new(),
            changes: Arc::new(changes),
            writing: Arc::default(),
            actions: Arc::default(),
        }
    }

    /// The same with other definitions and limits: what is kept from call to call stays.
    pub fn with(
        &self,
        registry: Arc<Registry>,
        bound: Bound,
        languages: Overrides,
        limits: ToolLimits,
        load_errors: Vec<String>,
        later: Vec<String>,
    ) -> Self {
        let (languages, present) = (Arc::new(languages), Arc::default());
        Self { registry, bound, languages, present, limits, load_errors, later, ..self.clone() }
    }

    /// The same with other things that are wrong with what was read.
    pub fn with_problems(&self, load_errors: Vec<String>) -> Self {
        Self { load_errors, ..self.clone() }
    }

    /// Finishes or drops, in the background, what a killed writer left half made. Must be called inside a tokio runtime.
    pub fn recover(&self) {
        if self.limits.read_only || !self.changes.has_journals() {
            return;
        }
        let changes = self.changes.clone();
        tokio::task::spawn_blocking(move || match changes.recover() {
            Ok(recovered) => {
                for one in recovered {
                    tracing::warn!(finished = one.finished, left = ?one.left, "a change was left half made");
                }
            }
            // Somebody else is at it, or the next change finds it.
            Err(refusal) => tracing::warn!(?refusal, "what was left half made is still so"),
        });
    }

    /// Waits until the changes that have begun are made: the call may be taken back, and its client be gone.
    pub async fn written(&self) {
        while_awake(WRITING, self.writing.write()).await;
    }

    /// What may be changed, from now on.
    pub fn govern(&self, policy: Policy) {
        self.changes.govern(policy);
    }

    /// What is wrong with what was read.
    pub fn problems(&self) -> &[String] {
        &self.load_errors
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// What happens to servers from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.pool.events()
    }

    /// Whether any definition declares a capability, or declares none, or its server has registered it while it ran.
    fn may(&self, capability: Capability) -> bool {
        let learned = |entry: &Arc<Entry>| self.pool.has_learned(&entry.name, capability);
        self.bound.may(capability) || self.bound.entries().iter().any(learned)
    }

    /// The tools that the bound definitions can serve: those declared, or all where a definition declares nothing.
    pub fn offered(&self) -> Vec<ToolId> {
        let able =
            |tool: ToolId| self.limits.allows(tool) && tool.capability().is_none_or(|capability| self.may(capability));
        // Without a planner there is nothing to make.
        let plans = !self.limits.read_only && ToolId::ALL.into_iter().any(|tool| tool.plans() && able(tool));
        ToolId::ALL.into_iter().filter(|tool| able(*tool) && (*tool != ToolId::Apply || plans)).collect()
    }

    /// Whether a definition's program is there.
    pub(super) fn available(&self, entry: &Entry) -> bool {
        // What runs need not be looked for again at every call.
        self.pool.runs(entry) || registry::locate(entry, &self.around).is_ok()
    }

    /// What answers call a definition.
    pub(super) fn display(&self, entry: &Entry) -> DisplayName {
        self.registry.display_name(entry)
    }

    pub(super) async fn dispatch(&self, call: &ToolCall) -> Result<Outcome, Failure> {
        let deadline = call.arrived + (call.caller.max_wait - SLACK.min(call.caller.max_wait / 10));
        let ask = Ask { engine: self, tool: call.tool, caller: &call.caller, progress: &call.progress, deadline };
        let arguments = &call.arguments;
        if !self.limits.allows(call.tool) {
            let next = "the capabilities that it was started with leave this one out";
            return Err(failure(Code::Refused, format!("{} is not allowed here", call.tool.canonical()), next));
        }
        if call.tool == ToolId::Apply && self.limits.read_only {
            return Err(match &self.limits.forbidden {
                Some(mistake) => {
                    let what = format!("no file is changed while the configuration is faulty: {mistake}");
                    failure(Code::ReadOnly, what, "ask the user to mend it; it is read anew at once")
                }
                None => {
                    let next = "leave the files as they are, or ask the user to set it to workspace-write";
                    failure(Code::ReadOnly, "`permission` is read-only: no file is changed", next)
                }
            });
        }
        match call.tool {
            ToolId::Diagnostics => super::diagnostics::run(&ask, arguments).await,
            ToolId::Hover => super::hover::run(&ask, arguments).await,
            ToolId::Definition => super::definition::run(&ask, arguments).await,
            ToolId::References => super::references::run(&ask, arguments).await,
            ToolId::Completions => super::completions::run(&ask, arguments).await,
            ToolId::Signature => super::signature::run(&ask, arguments).await,
            ToolId::Symbols => super::symbols::run(&ask, arguments).await,
            ToolId::WorkspaceSymbols => super::workspace_symbols::run(&ask, arguments).await,
            ToolId::Calls => super::calls::run(&ask, arguments).await,
            ToolId::Types => super::types::run(&ask, arguments).await,
            ToolId::Rename => super::rename::run(&ask, arguments).await,
            ToolId::CodeActions => super::code_actions::run(&ask, arguments).await,
            ToolId::Format => super::format::run(&ask, arguments).await,
            ToolId::MoveFile => super::move_file::run(&ask, arguments).await,
            ToolId::Apply => super::apply::run(&ask, arguments, call.consent.as_ref()).await,
            ToolId::Status => super::status::run(&ask, arguments).await,
        }
    }
}
