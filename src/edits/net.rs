//! What the overlay comes to: one effect for each path, in an order in which they can be made one after the other.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::diff::Kind;
use super::diff::Shown;
use super::effect::{Content, Effect, Print};
use super::overlay::{Folder, Node};
use super::planner::Planner;
use super::policy;
use super::refusal::{Refusal, RefusalCode};
use crate::sys::files;

/// The largest file that is moved: all of it is read, to be sure that it is the same one later.
const MOVED: u64 = 1 << 30;

/// A file that is not as and where it was.
struct Final {
    origin: Option<PathBuf>,
    base: Option<Content>,
    edited: Option<Content>,
    /// Its origin is somewhere else.
    moved: bool,
    /// The nearest folder above it that is on the disk.
    home: PathBuf,
}

#[derive(Default)]
struct Found {
    files: BTreeMap<PathBuf, Final>,
    made: BTreeSet<PathBuf>,
    /// Files that are where they were, whatever became of them on the way.
    back: HashSet<PathBuf>,
    /// Where it goes, with where it is.
    moved: BTreeMap<PathBuf, PathBuf>,
}

/// The effects, in order, and what is shown of them.
pub(super) fn effects(planner: &mut Planner<'_>) -> Result<(Vec<Effect>, Vec<Shown>), Refusal> {
    let mut found = Found::default();
    for (top, folder) in std::mem::take(&mut planner.overlay.tops) {
        found.walk(folder, &top, &top)?;
    }
    planner.gone.retain(|origin, _| !found.back.contains(origin));
    let moves = found.folder_moves()?;
    let now = |path: &Path| {
        moves.iter().find_map(|(from, to)| Some(to.join(path.strip_prefix(from).ok()?))).unwrap_or(path.to_owned())
    };
    // By where they would be now.
    let mut gone: BTreeMap<PathBuf, (PathBuf, Option<Content>)> = std::mem::take(&mut planner.gone)
        .into_iter()
        .map(|(origin, content)| (now(&origin), (origin, content)))
        .collect();
    let mut gone_folders: BTreeSet<PathBuf> = planner.gone_folders.iter().map(|origin| now(origin)).collect();
    // A folder that was removed and made again stays.
    let remade: Vec<PathBuf> = found.made.intersection(&gone_folders).cloned().collect();
    for path in remade {
        found.made.remove(&path);
        gone_folders.remove(&path);
    }
    let mixed = found.files.keys().find(|path| gone_folders.contains(*path));
    if let Some(path) = mixed.or_else(|| found.made.iter().find(|path| gone.contains_key(*path))) {
        return Err(Refusal::refused(path, "a file and a folder would take each other's place"));
    }

    let occupied: HashSet<PathBuf> = found.files.keys().cloned().collect();
    let mut shown = Vec::new();
    let mut effects = Vec::new();
    let mut consumed = HashSet::new();
    let mut left = HashSet::new();
    // Of moved files that take the place of another one: where they stand in what is shown, and that one.
    let mut overwriting = Vec::new();
    for (path, file) in found.files {
        let displaced = gone.get(&path).cloned();
        if displaced.is_none()
            && let (true, None, Some(origin)) = (file.moved, &file.edited, &file.origin)
            && !occupied.contains(&now(origin))
            && same_device(origin, &file.home)
        {
            let print = print(planner, origin, file.base.as_ref())?;
            left.insert(now(origin));
            shown.push(Shown {
                kind: Kind::Renamed,
                path: path.clone(),
                from: Some(origin.clone()),
                folder: None,
                overwrites: false,
                old: None,
                new: None,
            });
            effects.push(Effect::Move { from: now(origin), to: path, print });
            continue;
        }
        let base = match (&file.origin, file.base) {
            (Some(origin), None) => Some(planner.raw(origin)?),
            (_, base) => base,
        };
        let Some(new) = file.edited.or_else(|| base.clone()) else { continue };
        let renamed = file.origin.clone().filter(|_| file.moved);
        if let Some(origin) = &renamed {
            // What is known of it need not be read again when it is deleted where it was.
            if let Some((_, content @ None)) = gone.get_mut(&now(origin)) {
                content.clone_from(&base);
            }
            super::attributes::replaceable(origin)?;
            shown.push(Shown {
                kind: Kind::Renamed,
                path: path.clone(),
                from: Some(origin.clone()),
                folder: None,
                overwrites: false,
                old: base.clone(),
                new: Some(new.clone()),
            });
        }
        let replaced = match displaced {
            Some((origin, Some(old))) => Some((origin, old)),
            Some((origin, None)) => Some((origin.clone(), planner.raw(&origin)?)),
            // In its own place.
            None if !file.moved => file.origin.clone().zip(base),
            None => None,
        };
        match replaced {
            Some((_, old)) if renamed.is_none() && old.same(&new) => {
                consumed.insert(path);
            }
            Some((there, old)) => {
                if renamed.is_some() {
                    overwriting.push((shown.len() - 1, there.clone()));
                } else {
                    shown.push(Shown {
                        kind: Kind::Changed,
                        path: path.clone(),
                        from: None,
                        folder: None,
                        overwrites: false,
                        old: Some(old.clone()),
                        new: Some(new.clone()),
                    });
                }
                consumed.insert(path.clone());
                effects.push(Effect::Replace { path, old, new, like: renamed.unwrap_or(there) });
            }
            None => {
                if renamed.is_none() {
                    shown.push(Shown {
                        kind: Kind::Created,
                        path: path.clone(),
                        from: None,
                        folder: None,
                        overwrites: false,
                        old: None,
                        new: Some(new.clone()),
                    });
                }
                effects.push(Effect::Create { path, new, like: renamed });
            }
        }
    }
    let renamed: HashSet<PathBuf> = shown.iter().filter_map(|shown| shown.from.clone()).collect();
    for (at, there) in overwriting {
        shown[at].overwrites = !renamed.contains(&there);
    }
    for (path, (origin, content)) in gone {
        if consumed.contains(&path) || left.contains(&path) {
            continue;
        }
        let old = content.map_or_else(|| planner.raw(&origin), Ok)?;
        if !renamed.contains(&origin) {
            shown.push(Shown {
                kind: Kind::Deleted,
                path: origin,
                from: None,
                folder: None,
                overwrites: false,
                old: Some(old.clone()),
                new: None,
            });
        }
        effects.push(Effect::Delete { path, old });
    }
    for (from, to) in &moves {
        shown.push(Shown {
            kind: Kind::Renamed,
            path: to.clone(),
            from: Some(from.clone()),
            folder: Some(policy::files_below(from)),
            overwrites: false,
            old: None,
            new: None,
        });
    }
    for folder in &planner.gone_folders {
        if !shown.iter().any(|shown| shown.kind == Kind::Deleted && shown.path.starts_with(folder))
            && gone_folders.contains(&now(folder))
        {
            shown.push(Shown {
                kind: Kind::Deleted,
                path: folder.clone(),
                from: None,
                folder: Some(0),
                overwrites: false,
                old: None,
                new: None,
            });
        }
    }
    shown.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((ordered(effects, &moves, found.made, gone_folders)?, shown))
}

impl Found {
    /// `home` is the nearest folder at or above `path` that is on the disk.
    fn walk(&mut self, folder: Folder, path: &Path, home: &Path) -> Result<(), Refusal> {
        let inherited = folder.origin;
        for (name, node) in folder.entries {
            let here = path.join(&name);
            let usual = inherited.as_ref().map(|origin| origin.join(&name));
            match node {
                None | Some(Node::Special) => {}
                Some(Node::File(file)) => {
                    let moved = file.origin.is_some() && file.origin != usual;
                    self.back.extend(file.origin.clone().filter(|_| !moved));
                    if moved || file.edited.is_some() {
                        let home = home.to_owned();
                        self.files.insert(
                            here,
                            Final { origin: file.origin, base: file.base, edited: file.edited, moved, home },
                        );
                    }
                }
                Some(Node::Folder(inner)) => {
                    match &inner.origin {
                        None => drop(self.made.insert(here.clone())),
                        Some(origin) if inner.origin != usual => {
                            if !same_device(origin, home) {
                                return Err(Refusal::refused(origin, "it would move to another file system"));
                            }
                            self.moved.insert(here.clone(), origin.clone());
                        }
                        Some(_) => {}
                    }
                    let home = inner.origin.clone().unwrap_or_else(|| home.to_owned());
                    self.walk(inner, &here, &home)?;
                }
            }
        }
        Ok(())
    }

    /// Folders that move, from and to; each for itself.
    fn folder_moves(&self) -> Result<Vec<(PathBuf, PathBuf)>, Refusal> {
        let moves: Vec<(PathBuf, PathBuf)> = self.moved.iter().map(|(to, from)| (from.clone(), to.clone())).collect();
        for (at, (from, to)) in moves.iter().enumerate() {
            let others = moves.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, pair)| pair);
            let crossed = |(from2, to2): &(PathBuf, PathBuf)| {
                from.starts_with(from2) || to.starts_with(from2) || to.starts_with(to2) || from.starts_with(to2)
            };
            if to.starts_with(from) || others.into_iter().any(crossed) {
                return Err(Refusal::refused(from, "it moves folders whose moves depend on each other"));
            }
            let folds = || same_name_folded(from, to);
            if to.symlink_metadata().is_ok() && !folds() {
                return Err(Refusal::refused(to, "a moved folder would take the place of what is there"));
            }
        }
        Ok(moves)
    }
}

fn same_name_folded(from: &Path, to: &Path) -> bool {
    let identity = |path: &Path| path.symlink_metadata().ok().map(|metadata| files::identity(&metadata));
    from.parent() == to.parent() && identity(from).is_some() && identity(from) == identity(to)
}

/// Folders first where moved ones go into, then moved ones, then other new ones; files; last what goes, inner before
/// outer.
fn ordered(
    files: Vec<Effect>,
    moves: &[(PathBuf, PathBuf)],
    made: BTreeSet<PathBuf>,
    removed: BTreeSet<PathBuf>,
) -> Result<Vec<Effect>, Refusal> {
    let above = |path: &PathBuf| moves.iter().any(|(_, to)| to.starts_with(path));
    let (first, then): (Vec<PathBuf>, Vec<PathBuf>) = made.into_iter().partition(above);
    let make = |path| Effect::MakeFolder { path };
    let mut effects: Vec<Effect> = first.into_iter().map(make).collect();
    for (from, to) in moves {
        let metadata = from.symlink_metadata().map_err(|error| Refusal::failed(from, "look at it", &error))?;
        let identity = files::identity(&metadata);
        effects.push(Effect::MoveFolder { from: from.clone(), to: to.clone(), dev: identity.dev, ino: identity.ino });
    }
    effects.extend(then.into_iter().map(make));
    effects.extend(files);
    effects.extend(removed.into_iter().rev().map(|path| Effect::RemoveFolder { path }));
    Ok(effects)
}

fn same_device(from: &Path, home: &Path) -> bool {
    let device = |path: &Path| path.symlink_metadata().ok().map(|metadata| files::identity(&metadata).dev);
    device(from).is_some() && device(from) == device(home)
}

/// The print of a file that moves as it is.
fn print(planner: &Planner<'_>, origin: &Path, base: Option<&Content>) -> Result<Print, Refusal> {
    let failed = |error: std::io::Error| Refusal::failed(origin, "read it", &error);
    if let Some(base) = base {
        return Ok(base.print());
    }
    let metadata = origin.symlink_metadata().map_err(failed)?;
    if metadata.is_symlink() {
        return Ok(Content::Link(origin.read_link().map_err(failed)?).print());
    }
    let mut file = files::open(origin).map_err(failed)?.take(MOVED + 1);
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; 1 << 16];
    let mut len = 0;
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        len += read as u64;
        hash.update(&buffer[..read]);
    }
    if len > MOVED {
        return Err(Refusal::too_large(format!("it has more than {MOVED} bytes")).at(origin));
    }
    let print = Print { hash: hash.digest(), len, link: false };
    if planner.knows_otherwise(origin, print.hash) {
        return Err(Refusal::new(RefusalCode::Conflict, "it changed while the server was computing", "plan it again")
            .at(origin));
    }
    Ok(print)
}
