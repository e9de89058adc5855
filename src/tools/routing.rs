//! Why a file goes to the servers that it goes to: how its language is known, which definitions speak it, which of them
//! serve it and why the others do not.

use std::{path::PathBuf, sync::Arc};

use crate::{
    language,
    registry::{self, DisplayName, Entry, Getting, LaunchError},
};

use super::{ask::Ask, file::File, outcome::Failure, short};

/// Definitions that one explanation names.
const NAMED: usize = 20;
/// Stands for the names of all definitions that have a reason in common.
const THESE: &str = "\u{0}";

/// Who serves a file, and why.
pub(super) struct Explained {
    /// In the order in which they are asked, each with its root.
    pub serving: Vec<(Arc<Entry>, PathBuf)>,
    /// Line by line, in langport's own words.
    pub notes: Vec<String>,
}

/// The explanation.
///
/// # Errors
/// When there is no such file.
pub(super) fn explain(ask: &Ask<'_>, given: &str) -> Result<Explained, Failure> {
    let file = ask.file(given)?;
    let mut notes = vec![format!("{}: {}", file.shown, detected(ask, &file))];
    let engine = ask.engine;
    let serving = engine.route(&file.path, &file.language, &file.ceiling);
    let speaks = |entry: &Entry| {
        let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        entry.speaks(&file.language)
            || entry.def.filenames.iter().any(|own| own == name)
            || entry.def.extensions.keys().any(|ending| name.ends_with(ending.as_str()))
    };
    let mut named = 0;
    let mut passed: Vec<(String, Vec<DisplayName>)> = Vec::new();
    for entry in engine.registry.all().iter().filter(|entry| speaks(entry)) {
        named += 1;
        if named > NAMED {
            continue;
        }
        let chosen = [("answers", &serving.answering), ("adds diagnostics", &serving.linters)]
            .into_iter()
            .find_map(|(role, list)| Some((role, list.iter().find(|(own, _)| own.name == entry.name)?)));
        let name = engine.display(entry);
        if let Some((role, (_, root))) = chosen {
            let root = engine.ground.roots.display(root);
            notes.push(format!("{name} {role}; root {}", if root.is_empty() { "." } else { &root }));
            continue;
        }
        let reason = passed_over(ask, entry, &file);
        match passed.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => passed.push((reason, vec![name])),
        }
    }
    notes.extend(passed.into_iter().map(|(reason, names)| {
        let reason = reason.replace(THESE, &names.join(" "));
        format!("{} not asked: {reason}", names.join(", "))
    }));
    if named > NAMED {
        notes.push(match named - NAMED {
            1 => "1 more definition speaks it".to_owned(),
            more => format!("{more} more definitions speak it"),
        });
    }
    if named == 0 {
        notes.push(format!("no definition speaks it; {}", short::unserved(&file)));
    }
    Ok(Explained { serving: serving.answering.into_iter().chain(serving.linters).collect(), notes })
}

fn detected(ask: &Ask<'_>, file: &File) -> String {
    if file.language.is_empty() {
        return "its language is not known by its name, its ending or its first line".into();
    }
    let how = if ask.engine.languages.named(&file.path).is_some() {
        "by a pattern of the settings or of a definition"
    } else if language::detect(&file.path, || None).is_some() {
        "by its name"
    } else {
        "by its first line"
    };
    format!("language {} {how}", file.language)
}

/// Why a definition that speaks the language does not serve the file.
fn passed_over(ask: &Ask<'_>, entry: &Entry, file: &File) -> String {
    let engine = ask.engine;
    if !engine.bound.entries().iter().any(|bound| bound.name == entry.name) {
        return "it is not bound".into();
    }
    if registry::root_of(&file.path, &entry.def.root, &file.ceiling).is_none() {
        return "no folder above the file has one of its markers, or one has a marker that keeps it away".into();
    }
    match registry::locate(entry, &engine.around) {
        Ok(_) => "an earlier one answers".into(),
        // Where it was looked for is told of one that is asked for by name.
        Err(LaunchError::NotInstalled { getting, command, .. }) => {
            let getting = match getting {
                Some(Getting::Command(_)) => format!("run `langport install {THESE}`"),
                Some(advice @ Getting::Advice(_)) => advice.to_string(),
                None => format!("install `{command}`"),
            };
            format!("not installed; {getting}")
        }
        Err(error @ LaunchError::Executes) => format!("{error}; {}", short::trusting(&engine.display(entry))),
        Err(error) => error.to_string(),
    }
}
