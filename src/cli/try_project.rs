//! `langport try PATH`: a tour of any project, by the same calls that agents make: what is here, who serves it, what the
//! servers say, and whether they keep up with an error made and mended in a copy.

mod agent;
mod copy;
mod lines;
mod mishap;
mod tally;
mod tour;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::{agent::Agent, lines::Lines, tally::Tally, tour::Tour};
use super::{
    on_runtime, out,
    project::{Project, survey::Language},
};
use crate::{config::nearest, sys::signals};

/// How long all calls may take together.
const TIME: Duration = Duration::from_secs(180);
/// Languages that get a line beside the tour, the most frequent first.
const LANGUAGES: usize = 20;
/// The exit code after a signal, as shells have it.
const STOPPED: u8 = 130;

/// Shows what language servers make of a project: a tour of its most frequent language, and a line for each other one.
/// Nothing in the project is changed: an error is made and mended in a
/// copy. Ends with 0 when everything went as it should (also where no language is known), else with 1.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The project's folder
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Tour these languages (repeatable, or with commas) instead of the most frequent one
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    language: Vec<String>,
    /// Install the servers that are missing, in pinned versions, below langport's own data folder. The commands are shown
    /// and then run without a question: this flag is the yes
    #[arg(long)]
    install: bool,
    /// Answer yes where there would be a question: on a terminal, whether to install what is missing
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let project = Project::of(&args.path)?;
    let here = || project.survey.languages.iter().map(|language| language.id.as_str());
    for wanted in &args.language {
        if !here().any(|id| id == wanted) {
            let hint = match nearest::hint(wanted, here()) {
                hint if hint.is_empty() => format!(": there are {}", here().collect::<Vec<_>>().join(", ")),
                hint => hint,
            };
            anyhow::bail!("no file here is in the language `{wanted}`{hint}");
        }
    }
    project.show()?;
    let mut tally = Tally::default();
    if !project.missing().is_empty() {
        get_missing(args, &project, &mut tally)?;
    }
    let languages: Vec<&Language> = project.ready().collect();
    if languages.is_empty() {
        return nothing(&project);
    }
    for wanted in &args.language {
        if !languages.iter().any(|language| language.id == *wanted) {
            let there: Vec<_> = languages.iter().map(|language| language.id.as_str()).collect();
            anyhow::bail!("there is no tour of `{wanted}`: the languages with a server here are {}", there.join(", "));
        }
    }
    project.absent().into_iter().for_each(|absent| tally.absent(absent));
    on_runtime(async {
        let stop = CancellationToken::new();
        let asked = stop.clone();
        let listening = tokio::spawn(async move {
            signals::ended().await;
            asked.cancel();
        });
        let shown = show(&project, &languages, &args.language, &mut tally, &stop).await;
        listening.abort();
        shown?;
        Ok(if stop.is_cancelled() { STOPPED } else { tally.exit_code() })
    })
}

/// Installs what is missing, or tells how.
fn get_missing(args: &Args, project: &Project, tally: &mut Tally) -> anyhow::Result<()> {
    let asked_for = args.install || args.yes;
    let can_ask = io::stdin().is_terminal() && io::stdout().is_terminal();
    if asked_for || can_ask {
        let wrong = project.install(!asked_for)?;
        // What langport cannot install here is named at the end.
        if wrong > 0 {
            tally.wrong(format!("{wrong} of the missing servers could not be installed"));
        }
    } else {
        out::print(&format!("\n`langport try {} --install` installs what is missing.\n", args.path.display()))?;
    }
    Ok(())
}

/// There is nobody to ask.
fn nothing(project: &Project) -> anyhow::Result<u8> {
    let missing = !project.missing().is_empty();
    let what = match (missing, project.survey.languages.is_empty()) {
        (true, _) => "No server is here that could be asked.".to_owned(),
        (false, true) => "No file of a known language is here.".to_owned(),
        (false, false) => format!("No definition serves these languages: {}.", project.advice()),
    };
    out::print(&format!("\n{what}\n"))?;
    Ok(u8::from(missing))
}

async fn show(
    project: &Project,
    languages: &[&Language],
    wanted: &[String],
    tally: &mut Tally,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let end = Instant::now() + TIME;
    let agent = Agent::new(&project.root, end)?;
    let asked = agent.until(stop, ask(project, languages, wanted, &agent, tally)).await;
    agent.leave().await;
    let Some(files) = asked.transpose()? else { return Ok(()) };
    for (language, file) in files {
        if Instant::now() > end {
            tally.wrong(format!("there was no time left for an error in a copy ({})", language.id));
            break;
        }
        mishap::make_and_mend(&project.root, &file, language, end, tally, stop).await?;
        if stop.is_cancelled() {
            return Ok(());
        }
    }
    tally.close()?;
    Ok(())
}

/// Asks about each language; answers with the file of each tour that is to be broken in a copy.
async fn ask<'a>(
    project: &Project,
    languages: &[&'a Language],
    wanted: &[String],
    agent: &Agent,
    tally: &mut Tally,
) -> anyhow::Result<Vec<(&'a Language, PathBuf)>> {
    let first = languages.first().map(|language| language.id.clone());
    let toured = |language: &&&Language| match wanted {
        [] => Some(&language.id) == first.as_ref(),
        _ => wanted.contains(&language.id),
    };
    let (tours, lines): (Vec<&&Language>, Vec<&&Language>) = languages.iter().partition(toured);
    let mut files = Vec::new();
    for language in tours {
        out::print(&format!("\n{}:\n", language.id))?;
        tally.by_hand = project.by_hand(language);
        let mut tour = Tour { root: &project.root, agent, tally };
        files.extend(tour.of(language).await?.map(|file| (*language, file)));
    }
    if !lines.is_empty() {
        out::print("\nThe other languages, by the problems of their files (`--language ID` tours one of them):\n\n")?;
        let mut row = Lines { root: &project.root, agent, tally, clean: Vec::new() };
        for language in lines.iter().take(LANGUAGES) {
            row.tally.by_hand = project.by_hand(language);
            row.of(language).await?;
        }
        row.close()?;
        let rest: Vec<_> = lines.iter().skip(LANGUAGES).map(|language| language.id.as_str()).collect();
        if !rest.is_empty() {
            out::print(&format!("  not asked about: {}\n", rest.join(", ")))?;
        }
    }
    tally.by_hand = None;
    Ok(files)
}
