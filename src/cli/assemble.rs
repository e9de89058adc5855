//! Builds a running langport from flags and settings: registry, binding, workspace, pool, tools.

use std::{path::PathBuf, sync::Arc, time::Duration};

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
        pool::Pool,
        start::{Opener, Starter},
    },
    sys::{dirs::Dirs, env::Env},
    tools::{ToolId, engine::Engine, service::Service},
    workspace::{
        disk::Disk,
        roots::{self, Roots},
        watch::{Options, Watcher},
    },
};

use super::{
    limits,
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
        for (flag, list) in
            [("--bind", &self.bind), ("--languages", &self.languages), ("--capabilities", &self.capabilities)]
        {
            let empty = list.iter().any(|word| word.trim().is_empty());
            anyhow::ensure!(!empty, "{flag} has an empty name: give names, or leave it out");
        }
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
        let changes = changes(&dirs, ground.as_ref(), &settings)?;
        let around = Surroundings::of_process(dirs.clone(), folders);
        let pool = pool(ground, around.clone(), &settings);
        let limits = limits::of_tools(&settings, forbidden);
        let engine = Engine::new(Arc::new(registry), bound, around, pool, languages, limits, problems, changes);
        let engine = Service::new(engine);
        let mcp = mcp_settings(&settings, &engine);
        Reloader::start((dirs, env, flags), read, &settings, &engine, mcp.changes.clone());
        Ok(Langport { engine, mcp })
    }
}

/// The changes of a workspace, within what the settings allow.
fn changes(dirs: &Dirs, ground: &Ground, settings: &Settings) -> anyhow::Result<Changes> {
    Ok(Changes::new(&dirs.state, &ground.roots, policy(dirs, settings)?, edits::Limits::default()))
}

/// What may be changed.
///
/// # Errors
/// When a glob is none.
pub(super) fn policy(dirs: &Dirs, settings: &Settings) -> anyhow::Result<Policy> {
    let mut withheld = GlobSetBuilder::new();
    for pattern in &settings.withheld {
        withheld.add(Glob::new(pattern).context("withheld")?);
    }
    Ok(Policy {
        read_only: settings.permission == Permission::ReadOnly,
        withheld: withheld.build().context("withheld")?,
        own: [&dirs.config, &dirs.state, &dirs.data, &dirs.managed].map(|folder| roots::canonical(folder)).into(),
        file_bytes: settings.document_bytes,
        ..Policy::default()
    })
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
    limits::of_servers(&mut starter, settings);
    Pool::new(starter, limits::of_pool(settings))
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
