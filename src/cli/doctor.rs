//! `langport doctor`: whether what is installed works here, by starting it; and langport's own folders, configuration and
//! watcher.

mod examine;
mod own;
mod report;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use futures::{StreamExt, stream};

use self::{
    examine::{Case, Examiner},
    own::Own,
    report::{Report, Server},
};
use super::{assemble, list, on_runtime, out, progress::Progress, project::Project, settled::Settled};
use crate::{
    config::{Flags, Settings},
    registry::{self, Registry, Surroundings},
    sys::{env::Env, files::TempDir, signals},
    workspace::roots::Roots,
};

/// Servers that start at once.
const AT_ONCE: usize = 3;
/// How long one may take to start.
const START: Duration = Duration::from_secs(20);

/// Starts every server that is installed and tells which work, how long they took, what they can do, and how to mend what
/// does not work. Ends with 1 where something that is installed or configured does not work.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Args {
    /// Only what serves this project, started in its roots (default: every definition, in an empty folder)
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let report = on_runtime(examine(args))?;
    // As a shell tells that a signal ended a program.
    let Some(report) = report else { return Ok(130) };
    out::print(&if args.json { report.json()? } else { report.text() })?;
    Ok(u8::from(!report.ok))
}

/// The report; none where a signal came first.
async fn examine(args: &Args) -> anyhow::Result<Option<Report>> {
    let mut around = list::surroundings()?;
    let (registry, mut settings, problems) = match Settled::read(&around.dirs, &Env::current(), &Flags::default()) {
        Ok(settled) => (settled.registry, settled.settings, settled.problems),
        Err(error) => {
            let (registry, left_out) = Registry::load(&around.dirs);
            let problems = std::iter::once(error.to_string()).chain(left_out.iter().map(ToString::to_string));
            (registry, Settings::default(), problems.collect())
        }
    };
    settings.start_timeout_ms = settings.start_timeout_ms.min(u64::try_from(START.as_millis()).unwrap_or(u64::MAX));
    let project = args.path.as_deref().map(Project::of).transpose()?;
    if let Some(project) = &project {
        around.workspace = vec![project.root.clone()];
    }
    let empty =
        TempDir::create(&std::env::temp_dir(), "langport-doctor-").context("an empty folder to start servers in")?;
    let cases = match &project {
        Some(project) => of_project(project),
        None => of_all(&registry, &empty),
    };
    let workspace = around.workspace.clone();
    let ground = assemble::ground(Roots::new(&workspace)?, &settings);
    let own = Own::of(&around, &workspace, &ground, registry.all().len(), problems);
    let pool = assemble::pool(ground.clone(), around.clone(), &settings);
    let examiner = Arc::new(Examiner { pool: pool.clone(), around });
    let looked = async { (start_all(&examiner, cases).await, own.settled(&ground).await) };
    let looked = tokio::select! {
        looked = looked => Some(looked),
        _ = signals::ended() => None,
    };
    pool.shutdown().await;
    let Some((servers, own)) = looked else { return Ok(None) };
    let unserved = project.iter().flat_map(|project| project.unserved()).map(|language| language.id.clone()).collect();
    Ok(Some(Report::new(own, servers, unserved)))
}

/// What serves a project, where it would be started.
fn of_project(project: &Project) -> Vec<Case> {
    let servers = project.servers().into_iter();
    servers
        .map(|server| {
            let rule = &server.entry.def.root;
            let root = registry::root_of(&server.example, rule, &project.root).unwrap_or_else(|| project.root.clone());
            Case { entry: server.entry, languages: server.languages, root, in_project: true }
        })
        .collect()
}

/// Every definition, each in an empty folder of its own.
fn of_all(registry: &Registry, empty: &TempDir) -> Vec<Case> {
    let entries = registry.all().iter().enumerate();
    entries
        .map(|(number, entry)| Case {
            entry: entry.clone(),
            languages: entry.def.languages.clone(),
            root: empty.path().join(number.to_string()),
            in_project: false,
        })
        .collect()
}

/// Looks at all cases, a few at a time; the order stays.
async fn start_all(examiner: &Arc<Examiner>, cases: Vec<Case>) -> Vec<Server> {
    let progress = Progress::new();
    let all = cases.len();
    let looked = stream::iter(cases.into_iter().enumerate())
        .map(|(number, case)| {
            let (examiner, progress) = (examiner.clone(), progress.clone());
            async move {
                if examiner.starts(&case) {
                    let of = if progress.is_fleeting() { format!(" ({} of {all})", number + 1) } else { String::new() };
                    progress.say(&format!("starting {}{of}", case.entry.name));
                }
                examiner.look(case).await
            }
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    progress.clear();
    looked
}
