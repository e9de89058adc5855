//! Code actions: `Command` or `CodeAction`, each kept as it came, because it goes back to the server to be resolved; and
//! what `textDocument/prepareRename` answers.

use std::collections::HashMap;

use serde::de::{MapAccess, SeqAccess};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

use super::basic::{Flag, RangeShape, Short};
use super::keys::{One, WithText};
use super::shape::{Shape, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{Capped, CodeAction, Prepared};

/// Bytes of one action that is kept.
const RAW: usize = 1 << 20;
/// Bytes of all actions that are kept.
const ALL: usize = 16 << 20;
/// Actions that are kept; past that half as many, and as much of them, of those that are wanted more than others.
const ACTIONS: usize = 1_000;
/// Actions of which it is known which are alike.
const ALIKE: usize = 16_000;

/// Which actions are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'w> {
    /// Of these kinds alone, where there are any: not every server heeds `only`.
    pub only: &'w [String],
    /// Above all the ones of this title, and then what the server thinks best.
    pub title: Option<&'w str>,
}

impl Wanted<'_> {
    fn allows(&self, action: &Parts) -> bool {
        self.only.is_empty() || action.kind.as_deref().is_some_and(|kind| is_below(kind, self.only))
    }

    fn prefers(&self, action: &Parts) -> bool {
        // As answers show titles: on one line.
        let same = |title: &str| title.split_whitespace().eq(action.title.split_whitespace());
        self.title.map_or(action.preferred, same)
    }
}

/// Whether a kind is one of the wanted ones or below one: `source.fixAll.ruff` is below `source.fixAll`.
pub fn is_below(kind: &str, only: &[impl AsRef<str>]) -> bool {
    only.iter().map(AsRef::as_ref).any(|wanted| {
        kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || wanted.is_empty())
    })
}

/// Reads the answer to `textDocument/codeAction`. What is not asked for is passed over; an action that is too large to be
/// kept counts as dropped.
///
/// # Errors
///
/// When the answer is neither `null` nor a list.
pub fn code_actions(raw: &[u8], caps: &Caps, wanted: Wanted<'_>) -> Result<Capped<CodeAction>, ReadError> {
    read(raw, "code actions or null", || ActionsShape { caps: *caps, wanted })
}

/// Reads the answer to `codeAction/resolve`.
///
/// # Errors
///
/// When the answer is no action.
pub fn code_action(raw: &[u8], caps: &Caps) -> Result<CodeAction, ReadError> {
    if raw.len() > RAW {
        return Err(ReadError::TooLarge("1 MiB"));
    }
    let list = [b"[", raw, b"]"].concat();
    let mut read = code_actions(&list, caps, Wanted::default())?;
    let none = || ReadError::Shape { expected: "a code action", found: Found::Without("title") };
    read.items.pop().ok_or_else(none)
}

/// Reads the answer to `textDocument/prepareRename`.
///
/// # Errors
///
/// When the answer has none of its forms.
pub fn prepare_rename(raw: &[u8], caps: &Caps) -> Result<Prepared, ReadError> {
    read(raw, "a range, or null", || PreparedShape { name: caps.name })
}

struct ActionsShape<'w> {
    caps: Caps,
    wanted: Wanted<'w>,
}

impl<'de> Shape<'de> for ActionsShape<'_> {
    type Value = Result<Capped<CodeAction>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Capped::default())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut list = Capped::default();
        let mut bytes = 0;
        // How many of each title and kind there were.
        let mut alike: HashMap<u128, usize> = HashMap::new();
        while let Some(read) = array.next_element_seed(WithText::new(RAW, ActionShape { caps: self.caps }))? {
            let Some((parts, raw)) = read else {
                list.dropped += 1;
                continue;
            };
            if !self.wanted.allows(&parts) {
                continue;
            }
            list.total += 1;
            let name = xxh3_128(format!("{}\0{:?}", parts.title, parts.kind).as_bytes());
            if alike.len() >= ALIKE && !alike.contains_key(&name) {
                continue;
            }
            let nth = alike.entry(name).or_default();
            let (most, room) = match self.wanted.prefers(&parts) {
                true => (ACTIONS + ACTIONS / 2, ALL + ALL / 2),
                false => (ACTIONS, ALL),
            };
            if list.items.len() < most && bytes + raw.get().len() <= room {
                bytes += raw.get().len();
                list.items.push(kept(parts, raw, *nth));
            }
            *nth += 1;
        }
        Ok(Ok(list))
    }
}

/// An action that is read and kept as it stands.
fn kept(parts: Parts, raw: &RawValue, nth: usize) -> CodeAction {
    CodeAction {
        title: parts.title,
        kind: parts.kind,
        preferred: parts.preferred,
        disabled: parts.disabled,
        has_edit: parts.has_edit,
        command: parts.command,
        nth,
        raw: raw.to_owned(),
    }
}

#[derive(Default)]
struct Parts {
    title: String,
    kind: Option<String>,
    preferred: bool,
    disabled: Option<String>,
    has_edit: bool,
    command: Option<String>,
}

struct ActionShape {
    caps: Caps,
}

impl<'de> Shape<'de> for ActionShape {
    type Value = Option<Parts>;

    fn other(self, _: Found) -> Option<Parts> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Parts>, A::Error> {
        let (mut title, mut parts) = (None, Parts::default());
        while let Some(key) = key(&mut object)? {
            match &*key {
                "title" => title = value(&mut object, Short(self.caps.name))?,
                "kind" => parts.kind = value(&mut object, Short(self.caps.name))?,
                "isPreferred" => parts.preferred = value(&mut object, Flag)?,
                "disabled" => parts.disabled = value(&mut object, DisabledShape(self.caps.line))?,
                "edit" => parts.has_edit = value(&mut object, Present)?,
                "command" => parts.command = value(&mut object, CommandShape(self.caps.name))?,
                _ => skip(&mut object)?,
            }
        }
        Ok(title.map(|title| Parts { title, ..parts }))
    }
}

/// The reason of `disabled`.
struct DisabledShape(usize);

impl<'de> Shape<'de> for DisabledShape {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<String>, A::Error> {
        let mut reason = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                "reason" => reason = value(&mut object, Short(self.0))?,
                _ => skip(&mut object)?,
            }
        }
        Ok(Some(reason.unwrap_or_default()))
    }
}

/// Whether there is an object.
struct Present;

impl<'de> Shape<'de> for Present {
    type Value = bool;

    fn other(self, _: Found) -> bool {
        false
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<bool, A::Error> {
        super::shape::skip_object(object)?;
        Ok(true)
    }
}

/// The name of a command: a text in the older form of actions, an object in the newer.
struct CommandShape(usize);

impl<'de> Shape<'de> for CommandShape {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn text(self, value: &str) -> Option<String> {
        Short(self.0).text(value)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<String>, A::Error> {
        One { key: "command", value: Short(self.0) }.object(object)
    }
}

struct PreparedShape {
    name: usize,
}

impl<'de> Shape<'de> for PreparedShape {
    type Value = Result<Prepared, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Prepared::No)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut start, mut end, mut range, mut placeholder, mut default) = (None, None, None, None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "start" => start = value(&mut object, super::basic::PositionShape)?,
                "end" => end = value(&mut object, super::basic::PositionShape)?,
                "range" => range = value(&mut object, RangeShape)?,
                "placeholder" => placeholder = value(&mut object, Short(self.name))?,
                "defaultBehavior" => default = Some(value(&mut object, Flag)?),
                _ => skip(&mut object)?,
            }
        }
        let bare = start.zip(end).map(|(start, end)| crate::protocol::positions::Range { start, end });
        Ok(match (range.or(bare), default) {
            (Some(range), _) => Ok(Prepared::At { range, placeholder }),
            (None, Some(true)) => Ok(Prepared::Default),
            (None, Some(false)) => Ok(Prepared::No),
            (None, None) => Err(Found::Without("range")),
        })
    }
}
