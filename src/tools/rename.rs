//! `lsp/rename`: a plan that renames a symbol wherever it is used. While the project is not known whole, it is refused: an
//! edit that lacks uses breaks what it should change.

use serde_json::{Map, Value};
use unicode_ident::{is_xid_continue, is_xid_start};

use crate::{
    edits::Promise,
    protocol::{
        positions::is_unseen,
        types::{EditStep, WorkspaceEdit},
    },
    runtime::{
        query::{Answer, Query},
        shortfall::Shortfall,
    },
};

use super::{
    address::{Address, Aim},
    args::{Args, invalid},
    ask::Ask,
    file::failure,
    kinds::count,
    outcome::{Code, Failure, Outcome, Verdict},
    plan::{Change, Planned},
    strays::{Strays, strays},
};

/// Characters of a name.
const LONGEST: usize = 200;

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    let new_name = args.text("new_name")?;
    let allow_partial = args.switch("allow_partial", false)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let new_name = new_name.ok_or_else(|| invalid("no name is given", "give new_name"))?;
    check_name(&new_name)?;
    // What comes from here on may use the name, and be missing from the plan.
    ask.engine.ground.barrier().await;
    let since = ask.engine.ground.watcher.head();
    let spot = ask.locate(&address, Aim::Name).await?;
    // In the editor's sense: a sigil before it (`@total`, `--total`) is the language's, so the server has its say first.
    let same = spot.file.lines.identifier_at(spot.at).is_some_and(|name| name.text == new_name);
    let heard = ask.ask_primary(&spot.file, Query::Rename { at: spot.at, new_name: new_name.clone() }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(Shortfall::Declined(..)) if same => return Err(same_name()),
        // An edit that may still come is no answer to "rename this".
        Err(shortfall) => return Err(ask.no_change(&heard, shortfall)),
    };
    let Answer::Edit(proposal) = &reply.answer else { return Err(super::wrong_kind()) };
    let place = format!("{}:{}:{}", spot.file.shown, spot.at.line + 1, spot.at.column + 1);
    let name = ask.engine.display(&heard.entry);
    if !reply.verdict.answered() && !allow_partial {
        let next = match reply.verdict {
            // Asking again would change nothing.
            Verdict::Partial => "look at those files, then pass allow_partial true to take what it knows",
            _ => "ask again in a moment, or pass allow_partial true to take what it knows",
        };
        return Err(ask.half_known(&heard, reply, next));
    }
    let nothing = || {
        let next = spot.names().unwrap_or_else(|| "point at the name itself, or at its declaration".into());
        let what = format!("{name} has nothing to rename at {place}: no file would change");
        Failure { details: spot.names_there().into_iter().collect(), ..failure(Code::NotFound, what, next) }
    };
    let mut edit = proposal.edit.clone().ok_or_else(|| if same { same_name() } else { nothing() })?;
    let elsewhere = ask.in_one_checkout(&spot.file.path, &mut edit);
    let Strays { outside, others } = strays(ask, &spot, proposal, &edit, reply.encoding, &new_name);
    // A rename that writes everywhere what stands there already.
    let same = same || edit.steps.iter().any(|step| matches!(step, EditStep::Texts { edits, .. } if !edits.is_empty()));
    let change = Change::of(proposal, edit, reply.encoding);
    let (change, along) = ask.with_moves(&heard, &spot.file.path, change).await?;
    match ask.plan(format!("rename to {new_name}"), change).await? {
        Planned::Nothing => Err(if same { same_name() } else { nothing() }),
        // Whoever does more than that has been refused for it by now.
        Planned::Plan(_) if !outside.is_empty() => {
            let what = format!("{name} would write where the text has no such place: it has another text in mind");
            let refused = failure(Code::Refused, what, "ask again; if it stays so, rename it by other means");
            Err(Failure { details: outside, ..refused })
        }
        Planned::Plan(_) if !others.is_empty() && !allow_partial => {
            let what = format!("{name} would write the new name where the old one does not stand, which breaks that");
            let refused =
                failure(Code::Refused, what, "look at those places, then pass allow_partial true to have it so");
            Err(Failure { details: others, ..refused })
        }
        Planned::Plan(mut plan) => {
            if let Some(old) = spot.file.lines.identifier_at(spot.at) {
                let whole = reply.verdict == Verdict::Fresh;
                plan.promises(Promise { word: old.text.to_owned(), since, whole });
            }
            let mut notes = spot.notes.clone();
            notes.extend(reply.remarks.iter().cloned());
            notes.extend(others);
            notes.extend(elsewhere);
            notes.extend(along);
            notes.extend(spot.file.lines.identifier_at(spot.at).and_then(|old| unlike(old.text, &new_name)));
            // Svelte's server, asked about a use, writes `import { old as new }`.
            let more = more_than_the_name(proposal.edit.as_ref(), &new_name);
            if more > 0 {
                let places = count(more, "place gets", "places get");
                notes.push(format!("{places} more than the new name, perhaps an alias: look at the diff"));
            }
            if !matches!(reply.verdict, Verdict::Fresh) {
                notes.push("uses that the server does not know yet are not among it".into());
            }
            ask.keep(&[heard], *plan, notes, token.as_deref())
        }
    }
}

fn same_name() -> Failure {
    invalid("that is its name already: there is nothing to rename", "give another new_name")
}

/// What no language takes for a name; the rest is the server's to refuse.
fn check_name(name: &str) -> Result<(), Failure> {
    let never = |c: char| c.is_whitespace() || c.is_control() || "()[]{}<>;,.:\"'`\\/|&*+=^%~".contains(c);
    let why = if name.is_empty() {
        "it is empty".to_owned()
    } else if name.chars().count() > LONGEST {
        "it is longer than 200 characters".to_owned()
    } else if let Some(bad) = name.chars().find(|c| never(*c)) {
        format!("it holds {bad:?}")
        // A name with one looks like another.
    } else if let Some(unseen) = name.chars().find(|c| is_unseen(*c)) {
        format!("it holds the invisible {}", unseen.escape_unicode())
    } else if name.starts_with(|c: char| c.is_ascii_digit()) {
        "it begins with a digit".to_owned()
    } else {
        return Ok(());
    };
    Err(invalid(format!("`new_name` is no name: {why}"), "give the bare new name of the symbol, such as total_price"))
}

/// A new name that no identifier of Unicode's is, in the place of one that is: clangd and others write it all the same.
fn unlike(old: &str, new: &str) -> Option<String> {
    let foreign = |name: &str| {
        let mut characters = name.chars();
        let first = characters.next().filter(|c| !(is_xid_start(*c) || matches!(c, '_' | '$')));
        first.or_else(|| characters.find(|c| !(is_xid_continue(*c) || *c == '$')))
    };
    match (foreign(old), foreign(new)) {
        (None, Some(c)) => Some(format!("the new name holds {c:?}: see that the language takes that in a name")),
        _ => None,
    }
}

/// Replacements that hold the new name and more.
fn more_than_the_name(edit: Option<&WorkspaceEdit>, new_name: &str) -> usize {
    let texts = edit.into_iter().flat_map(|edit| &edit.steps).flat_map(|step| match step {
        EditStep::Texts { edits, .. } => edits.as_slice(),
        _ => &[],
    });
    texts.filter(|edit| edit.text != new_name && edit.text.contains(new_name)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_is_none() {
        for name in ["total", "été", "_x1", "$el", "r#type", "valid?", "--accent", "größe"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "a b", "a.b", "1a", "x\u{a0}y", "f()", "\u{7}", "a\nb", "to\u{200b}tal", &"n".repeat(201)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_name_unlike_the_old_one_is_remarked() {
        for (old, new) in [("total", "sum"), ("total", "été"), ("a-b", "c-d"), ("el", "$el"), ("x", "class")] {
            assert_eq!(unlike(old, new), None, "{old} {new}");
        }
        for (old, new) in [("total", "total-price"), ("total", "#total"), ("valid", "valid?"), ("x", "😀")] {
            assert!(unlike(old, new).is_some(), "{old} {new}");
        }
    }
}
