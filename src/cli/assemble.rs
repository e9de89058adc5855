//! Builds a running langport from flags and settings: registry, binding, workspace, pool, tools.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use globset::{Glob, GlobSetBuilder};

use crate::{
    config::{self, Capability, Flags, Output, Permission, Settings},
    edits::{self, Changes, Policy},
    mcp::{ListChanges, McpSettings, ToolNames},
    protocol::Room,
    registry::{Confinement, Surroundings},
    render,
    runtime::{
        Shelf,
        ground::Ground,
        instance::Budget,
        pool::{Pool, PoolLimits},
        start::{Opener, Starter},
    },
    sys::{dirs::Dirs, env::Env},
    tools::{
        ToolId,
        engine::{Confirm, Engine, ToolLimits},
        service::Service,
    },
    workspace::{
        disk::Disk,
        roots::Roots,
        watch::{Options, Watcher},
    },
};

use super::{
    reload::{Mark, Reloader},
    settled::Settled,
};

/// Flags that every command takes which starts servers.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Flagged {
    /// A folder that may be looked at; may be given several times (default: the current folder)
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// A definition to serve, in place of all that fit; may be given several times
    #[arg(long, value_name = "NAME")]
    pub bind: Vec<String>,
    /// Serve these languages only, by whatever fits
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub languages: Vec<String>,
    /// Serve whatever the files need: the default, unless the settings say otherwise
    #[arg(long, conflicts_with_all = ["bind", "languages"])]
    pub auto: bool,
    /// What agents may do to files
    #[arg(long, value_name = "read-only|workspace-write")]
    pub permission: Option<String>,
    /// What servers may be asked for: `all`, or a list
    #[arg(long, value_name = "all|A,B", value_delimiter = ',')]
    pub capabilities: Vec<String>,
}

/// Everything that answers.
pub(super) struct Langport {
    pub engine: Arc<Service>,
    pub mcp: McpSettings,
}

/// The whole shutdown of one server.
const SHUTDOWN: Duration = Duration::from_secs(5);
/// Bytes of file texts that are kept.
const TEXTS: usize = 32 * 1024 * 1024;

impl Flagged {
    fn flags(&self) -> anyhow::Result<Flags> {
        let permission = match self.permission.as_deref() {
            None => None,
            Some("read-only") => Some(Permission::ReadOnly),
            Some("workspace-write") => Some(Permission::WorkspaceWrite),
            Some(other) => anyhow::bail!("--permission is `{other}`; it can be read-only or workspace-write"),
        };
        // What the settings bind does not count then.
        let named = |list: &[String]| (self.auto || !list.is_empty()).then(|| list.to_vec());
        let all = self.capabilities.iter().any(|word| word == "all");
        let capabilities = if self.capabilities.is_empty() || all {
            None
        } else {
            Some(
                self.capabilities
                    .iter()
                    .map(|word| word.parse())
                    .collect::<Result<Vec<Capability>, _>>()
                    .context("--capabilities")?,
            )
        };
        Ok(Flags {
            permission,
            capabilities,
            bind: named(&self.bind),
            languages: named(&self.languages),
            ..Flags::default()
        })
    }

    /// Reads the settings and definitions and puts everything together. Must be called inside a tokio runtime. No
    /// server starts.
    ///
    /// # Errors
    /// Flags or a root that cannot be used, and managed configuration that is wrong; a faulty user file is reported and
    /// left out.
    pub(super) fn assemble(&self) -> anyhow::Result<Langport> {
        let env = Env::current();
        let dirs = Dirs::from_env(&env)?;
        let flags = self.flags()?;
        let read = Mark::of(&dirs);
        let Settled { settings, registry, bound, languages, problems, forbidden } = Settled::read(&dirs, &env, &flags)?;
        for problem in &problems {
            tracing::warn!("{problem}");
        }
        let roots = if self.root.is_empty() {
            vec![std::env::current_dir().context("the current folder")?]
        } else {
            self.root.clone()
        };
        let roots = Roots::new(&roots)?;
        let folders: Vec<PathBuf> = roots.all().iter().map(|root| root.path.clone()).collect();
        let ground = ground(roots, &settings);
        let changes = changes(&dirs.state, ground.as_ref(), &settings)?;
        let around = Surroundings::of_process(dirs.clone(), folders);
        let pool = pool(ground, around.clone(), &settings);
        let limits = tool_limits(&settings, forbidden);
        let engine = Engine::new(Arc::new(registry), bound, around, pool, languages, limits, problems, changes);
        let engine = Service::new(engine);
        let mcp = mcp_settings(&settings, &engine);
        Reloader::start((dirs, env, flags), read, &settings, &engine, mcp.changes.clone());
        Ok(Langport { engine, mcp })
    }
}

/// The changes of a workspace, within what the settings allow.
fn changes(state: &Path, ground: &Ground, settings: &Settings) -> anyhow::Result<Changes> {
    let mut withheld = GlobSetBuilder::new();
    for pattern in &settings.withheld {
        withheld.add(Glob::new(pattern).context("withheld")?);
    }
    let policy = Policy {
        read_only: settings.permission == Permission::ReadOnly,
        withheld: withheld.build().context("withheld")?,
        file_bytes: settings.document_bytes,
        ..Policy::default()
    };
    Ok(Changes::new(state, &ground.roots, policy, edits::Limits::default()))
}

/// The ground of a workspace, being watched from now on.
pub(super) fn ground(roots: Roots, settings: &Settings) -> Arc<Ground> {
    let watching =
        Options { events: settings.watch_events, max_folders: settings.watched_folders, ..Options::default() };
    let watcher = Watcher::start(&roots, &watching);
    let disk = Disk::new(settings.document_bytes, TEXTS);
    Arc::new(Ground::new(roots, disk, watcher, Duration::from_millis(settings.barrier_ms)))
}

/// An empty pool with the limits of the settings. Must be called inside a tokio runtime.
pub(super) fn pool(ground: Arc<Ground>, around: Surroundings, settings: &Settings) -> Arc<Pool> {
    let nothing = Duration::ZERO;
    let mut starter = Starter {
        ground,
        around,
        start_timeout: nothing,
        shutdown: SHUTDOWN,
        request_timeout: nothing,
        settle: nothing,
        empty: nothing,
        documents: 0,
        pending: 0,
        room: Room::default(),
        shelf: Shelf::default(),
        opener: Opener::default(),
        confinement: Confinement::default(),
    };
    limit(&mut starter, settings);
    Pool::new(starter, pool_limits(settings))
}

/// The limits of servers that are started from now on.
pub(super) fn limit(starter: &mut Starter, settings: &Settings) {
    let ms = Duration::from_millis;
    starter.start_timeout = ms(settings.start_timeout_ms);
    starter.request_timeout = ms(settings.request_timeout_ms);
    starter.settle = ms(settings.settle_ms);
    starter.empty = ms(settings.empty_ms);
    starter.documents = settings.documents;
    starter.pending = settings.pending;
    starter.confinement = Confinement {
        memory_mb: Some(settings.memory_mb).filter(|limit| *limit > 0),
        nice: Some(settings.nice).filter(|nice| *nice > 0),
        sandbox: settings.sandbox,
    };
}

/// The limits of all servers together.
pub(super) fn pool_limits(settings: &Settings) -> PoolLimits {
    let ms = Duration::from_millis;
    // 0 means never.
    let idle =
        if settings.idle_stop_ms == 0 { Duration::from_secs(u64::from(u32::MAX)) } else { ms(settings.idle_stop_ms) };
    let budget = Budget {
        restarts: settings.restarts,
        window: ms(settings.restart_window_ms),
        first: ms(settings.backoff_ms),
        longest: ms(settings.backoff_longest_ms.max(settings.backoff_ms)),
    };
    PoolLimits { instances: settings.instances, idle, budget }
}

/// The limits of answers.
pub(super) fn tool_limits(settings: &Settings, forbidden: Option<String>) -> ToolLimits {
    ToolLimits {
        diagnostics_file: settings.diagnostics_file,
        diagnostics_delivery: settings.diagnostics_delivery,
        documents: settings.documents,
        capabilities: settings.capabilities.clone(),
        read_only: settings.permission == Permission::ReadOnly,
        forbidden,
        confirm: match settings.confirm {
            config::Confirm::None => Confirm::None,
            config::Confirm::Elicit => Confirm::Elicit,
        },
    }
}

fn mcp_settings(settings: &Settings, engine: &Arc<Service>) -> McpSettings {
    let offering = engine.clone();
    let offered: Arc<dyn Fn() -> Vec<ToolId> + Send + Sync> = Arc::new(move || offering.offered());
    McpSettings {
        output: match settings.output {
            Output::Text => render::Output::Text,
            Output::Structured => render::Output::Structured,
            Output::Both => render::Output::Both,
        },
        names: match settings.tool_names {
            config::ToolNames::Underscore => ToolNames::Underscore,
            config::ToolNames::Slash => ToolNames::Slash,
            config::ToolNames::Dot => ToolNames::Dot,
        },
        max_wait: Duration::from_millis(settings.max_wait_ms),
        max_chars: settings.max_chars,
        offered,
        changes: ListChanges::default(),
        ..McpSettings::default()
    }
}
