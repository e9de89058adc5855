//! A change that has been computed and checked but not made.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::diff::{self, FileDiff, Kind, Shown};
use super::effect::{Content, Effect};
use super::refusal::{Refusal, RefusalCode};

/// No letters that are taken for digits.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many of them a plan's name has.
const LONG: u32 = 16;

/// Names a plan: 80 bits out of the system's randomness, so that nobody finds one by trying.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanId(String);

impl PlanId {
    /// A new one.
    pub(super) fn random() -> Result<PlanId, Refusal> {
        let mut bytes = [0u8; 10];
        getrandom::fill(&mut bytes).map_err(|error| {
            Refusal::new(RefusalCode::Failed, format!("the system has no randomness: {error}"), "try again")
        })?;
        let bits = bytes.iter().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
        let letter = |at: u32| char::from(LETTERS[(bits >> (5 * at) & 31) as usize]);
        Ok(PlanId((0..LONG).map(letter).collect()))
    }

    /// Whether it could be one that was given out.
    pub(super) fn is_well_formed(&self) -> bool {
        self.0.len() == LONG as usize && self.0.bytes().all(|byte| LETTERS.contains(&byte))
    }

    /// What an agent gives back; anything may be in it. It names a plan only if there is one.
    #[must_use]
    pub fn given(text: &str) -> PlanId {
        PlanId(text.trim().chars().take(64).collect::<String>().to_ascii_lowercase())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many files a plan concerns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub changed: usize,
    pub created: usize,
    /// A renamed and edited file counts here only.
    pub renamed: usize,
    pub deleted: usize,
    pub folders: Folders,
}

/// How many folders a change concerns as wholes; what it does to files in them is counted besides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folders {
    pub renamed: usize,
    /// Files in these.
    pub within: usize,
    /// Empty ones: of others the files count.
    pub deleted: usize,
}

/// What a rename is to reach: every file that uses a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    pub word: String,
    /// The watcher's position when the uses were asked for.
    pub since: u64,
    /// None of them was left out knowingly.
    pub whole: bool,
}

/// By what other files may depend on what a plan changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wake {
    pub names: Vec<String>,
    /// It does nothing but to put one name in the place of another.
    pub renames: bool,
}

/// A change to files that has been computed and checked but not made.
#[derive(Debug, Clone)]
pub struct Plan {
    pub id: PlanId,
    /// Over all that it does, in hexadecimal: who consents to this consents to nothing else.
    pub hash: String,
    pub title: String,
    pub counts: Counts,
    /// Places in texts that change.
    pub places: usize,
    /// Files it concerns that git ignores: allowed, but worth saying.
    pub ignored: Vec<PathBuf>,
    /// Labels of annotations for which the server wants a person's consent.
    pub to_confirm: Vec<String>,
    /// Of a rename: what it has to reach.
    pub promise: Option<Promise>,
    pub(super) effects: Vec<Effect>,
    pub(super) shown: Vec<Shown>,
}

impl Plan {
    pub(super) fn new(title: String, effects: Vec<Effect>, shown: Vec<Shown>, places: usize) -> Result<Plan, Refusal> {
        let mut counts = Counts::default();
        for file in &shown {
            if let Some(within) = file.folder {
                counts.folders.within += within;
                *if file.kind == Kind::Deleted { &mut counts.folders.deleted } else { &mut counts.folders.renamed } +=
                    1;
                continue;
            }
            *match file.kind {
                Kind::Changed => &mut counts.changed,
                Kind::Created => &mut counts.created,
                Kind::Renamed => &mut counts.renamed,
                Kind::Deleted => &mut counts.deleted,
            } += 1;
        }
        Ok(Plan {
            id: PlanId::random()?,
            hash: hash(&title, &effects),
            title,
            counts,
            places,
            ignored: Vec::new(),
            to_confirm: Vec::new(),
            promise: None,
            effects,
            shown,
        })
    }

    /// Each file's differences, in the order of their paths; large ones are cut and say so.
    #[must_use]
    pub fn diff(&self) -> Vec<FileDiff> {
        diff::files(&self.shown)
    }

    /// Every path that it touches, where it is now and where it will be.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.effects.iter().flat_map(Effect::paths)
    }

    /// What it does to each file: the kind, the file, and where a renamed one comes from.
    pub fn files(&self) -> impl Iterator<Item = (Kind, &Path, Option<&Path>)> {
        self.shown.iter().map(|file| (file.kind, &*file.path, file.from.as_deref()))
    }

    /// The texts that it replaces, before and after; of a file that comes or goes one of them is empty.
    pub fn texts(&self) -> impl Iterator<Item = (&Path, &str, &str)> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Replace { path, old, new, .. } => Some((path.as_path(), old.text()?, new.text()?)),
            Effect::Create { path, new, like: None } => Some((path.as_path(), "", new.text()?)),
            Effect::Delete { path, old } => Some((path.as_path(), old.text()?, "")),
            _ => None,
        })
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.effects.iter().map(Effect::bytes).sum()
    }
}

/// Every field is preceded by its length: nothing can be moved from one to the next.
fn hash(title: &str, effects: &[Effect]) -> String {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(title.as_bytes());
    for effect in effects {
        let mut contents: [Option<&Content>; 2] = [None, None];
        let kind: &[u8] = match effect {
            Effect::MakeFolder { .. } => b"make folder",
            Effect::MoveFolder { .. } => b"move folder",
            Effect::Move { print, .. } => {
                field(&print.hash.to_le_bytes());
                b"move"
            }
            Effect::Replace { old, new, .. } => {
                contents = [Some(old), Some(new)];
                b"replace"
            }
            Effect::Create { new, .. } => {
                contents = [None, Some(new)];
                b"create"
            }
            Effect::Delete { old, .. } => {
                contents = [Some(old), None];
                b"delete"
            }
            Effect::RemoveFolder { .. } => b"remove folder",
        };
        field(kind);
        for path in effect.paths() {
            field(path.as_os_str().as_encoded_bytes());
        }
        for content in contents.into_iter().flatten() {
            for part in content.parts() {
                field(part);
            }
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
