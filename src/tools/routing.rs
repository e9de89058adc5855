//! Why a file goes to the servers that it goes to: how its language is known, which definitions speak it, which of them
//! serve it and why the others do not.

use crate::{
    language,
    registry::{self, Entry},
};

use super::{ask::Ask, file::File, outcome::Failure};

/// Definitions that one explanation names.
const NAMED: usize = 20;

/// The explanation, line by line, in langport's own words.
pub(super) fn explain(ask: &Ask<'_>, given: &str) -> Result<Vec<String>, Failure> {
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
    for entry in engine.registry.all().iter().filter(|entry| speaks(entry)) {
        named += 1;
        if named > NAMED {
            continue;
        }
        let chosen = [("answers", &serving.answering), ("adds diagnostics", &serving.linters)]
            .into_iter()
            .find_map(|(role, list)| Some((role, list.iter().find(|(own, _)| own.name == entry.name)?)));
        let what = match chosen {
            Some((role, (_, root))) => {
                let root = engine.ground.roots.display(root);
                format!("{role}; root {}", if root.is_empty() { "." } else { &root })
            }
            None => format!("not asked: {}", passed_over(ask, entry, &file)),
        };
        notes.push(format!("{} {what}", engine.display(entry)));
    }
    if named > NAMED {
        notes.push(format!("{} more definitions speak it", named - NAMED));
    }
    if named == 0 {
        notes.push("no definition speaks it: one in servers.d of the configuration folder can".into());
    }
    Ok(notes)
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
        Ok(_) => "another one comes before it".into(),
        Err(error) => error.to_string(),
    }
}
