//! What is watched beside the folders themselves: records of installed packages in folders that are left out, and links
//! to folders inside the workspace.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use rustix::fs::inotify::ReadFlags;

use super::look::begin;
use super::{Engine, Folder, Visit};
use crate::sys::files;
use crate::workspace::watch::facts::{REPORTED, TICK_NS, changed};
use crate::workspace::watch::names::Names;
use crate::workspace::watch::queue::Raw;
use crate::workspace::watch::{Kind, links, stamps};

impl Engine {
    /// Watches the records of installed packages in a folder that is left out.
    pub(super) fn watch_records(&mut self, folder: &Path, visit: Visit) {
        for way in stamps::ways(folder) {
            let way: Arc<Path> = Arc::from(way);
            let watch = match self.queue.add(&way, false) {
                Ok(watch) => watch,
                Err(error) => {
                    if self.note_limit(&way, &error) {
                        self.sweeper.cover_records(&way, begin(visit));
                    }
                    continue;
                }
            };
            if self.folders.contains_key(&watch) {
                return;
            }
            let old = self.records.remove(&watch).map(|known| known.names);
            let entries = way.read_dir().into_iter().flatten().flatten();
            let found = entries.filter(|entry| stamps::is_record(&way, &entry.file_name()));
            let mut names = Vec::new();
            for entry in found {
                let name = entry.file_name();
                let before = old.as_ref().map(|old| old.contains(&name));
                let kind = match visit {
                    Visit::Since(start) => entry.metadata().ok().and_then(|metadata| changed(&metadata, start, before)),
                    Visit::New => Some(Kind::Created),
                    Visit::Again => None,
                };
                if let Some(kind) = kind {
                    self.record(&entry.path(), kind, entry.file_type().is_ok_and(|kind| kind.is_dir()));
                }
                names.push(name);
            }
            let names: Names = names.iter().collect();
            let gone = old.iter().flat_map(Names::iter).filter(|name| !names.contains(name));
            gone.for_each(|name| self.record(&way.join(name), Kind::Deleted, false));
            self.records.insert(watch, Folder { path: Arc::clone(&way), names, round: self.round });
            self.records_by_path.insert(way, watch);
        }
    }

    /// Watches the record of one package: it comes before the package is there as a whole.
    fn watch_record(&mut self, path: &Path) {
        if let Ok(watch) = self.queue.add(path, false) {
            let path: Arc<Path> = Arc::from(path);
            let folder = Folder { path: Arc::clone(&path), names: Names::default(), round: self.round };
            self.records.insert(watch, folder);
            self.records_by_path.insert(path, watch);
        }
    }

    /// Something has happened where only records count.
    pub(super) fn record_event(&mut self, event: &Raw<'_>) {
        let (Some(folder), Some(name)) = (self.records.get_mut(&event.watch), event.name) else { return };
        if stamps::is_installed(&folder.path) {
            // It is still being installed.
            let path = Arc::clone(&folder.path);
            self.record(&path, Kind::Changed, true);
            return;
        }
        let path = folder.path.join(name);
        let is_folder = event.flags.contains(ReadFlags::ISDIR);
        let came = event.flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        let went = event.flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM);
        if stamps::is_record(&folder.path, name) {
            let kind = if went {
                folder.names.remove(name);
                Kind::Deleted
            } else if folder.names.insert(name) {
                Kind::Created
            } else {
                Kind::Changed
            };
            self.record(&path, kind, is_folder);
            if came && is_folder {
                self.watch_record(&path);
            }
        } else if came && stamps::leads_on(&path) {
            self.watch_records(&path, Visit::New);
        } else if came && name == "pyvenv.cfg" {
            let folder = Arc::clone(&folder.path);
            self.watch_records(&folder, Visit::New);
        } else if went && is_folder {
            self.let_go_of_records(&path);
        }
    }

    /// A folder of records is watched as a whole from now on.
    pub(super) fn watch_whole(&mut self, watch: i32) {
        if let Some(folder) = self.records.remove(&watch) {
            self.records_by_path.remove(&folder.path);
        }
    }

    pub(super) fn forget_records(&mut self, watch: i32) {
        let Some(folder) = self.records.remove(&watch) else { return };
        self.records_by_path.remove(&folder.path);
        // With its last record went what was installed.
        folder.names.iter().for_each(|name| self.record(&folder.path.join(name), Kind::Deleted, false));
    }

    /// Stops watching records in a folder and below it.
    pub(super) fn let_go_of_records(&mut self, folder: &Path) {
        let below = self.records_by_path.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        let below = below.take_while(|(path, _)| path.starts_with(folder));
        for watch in below.map(|(_, &watch)| watch).collect::<Vec<_>>() {
            self.queue.remove(watch);
            self.forget_records(watch);
        }
    }

    /// A name came or went: it may be a link into the workspace.
    pub(super) fn look_for_link(&mut self, path: &Path, kind: Kind) {
        if kind == Kind::Deleted {
            let led_to = self.log.lock().unwrap_or_else(PoisonError::into_inner).unlink(path);
            if let Some(folder) = led_to {
                self.spell(path, &folder, Kind::Deleted);
            }
        } else if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            self.link(path, Visit::New);
        }
    }

    /// Follows a link to a folder or file of the workspace: what changes there has changed under this name, too. A folder
    /// that the rules leave out is then watched all the same.
    pub(super) fn link(&mut self, path: &Path, visit: Visit) {
        let roots: Vec<PathBuf> = self.roots.iter().map(|root| root.path.clone()).collect();
        let Some(folder) = links::target(path, &roots) else { return };
        if !self.log.lock().unwrap_or_else(PoisonError::into_inner).link(path, &folder) || !folder.is_dir() {
            return;
        }
        if self.complete && !self.watches(&folder) || self.rules.lies_in_ignored(&folder) {
            self.exempt(&folder, files::now_ns() - TICK_NS);
        }
        if visit == Visit::New {
            self.spell(path, &folder, Kind::Created);
        }
    }

    /// Reports all that is known in a folder under the name of a link to it; if that is too much, the link itself.
    fn spell(&self, link: &Path, folder: &Path, kind: Kind) {
        let below = self.by_path.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        let below = below.take_while(|(path, _)| path.starts_with(folder));
        let known: Vec<&Folder> = below.filter_map(|(_, watch)| self.folders.get(watch)).collect();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().map(|folder| folder.names.len()).sum::<usize>() > REPORTED {
            log.note(link, kind, true);
            return;
        }
        for below in known {
            let Ok(rest) = below.path.strip_prefix(folder) else { continue };
            let spelt = if rest.as_os_str().is_empty() { link.to_owned() } else { link.join(rest) };
            below.names.iter().for_each(|name| log.note(&spelt.join(name), kind, false));
        }
    }
}
