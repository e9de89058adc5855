//! A workspace with a state folder, steps in few words, and the whole tree as a value.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::edits::{Applied, Changes, Limits, Plan, PlanId, Policy, Refusal, Told};
use crate::protocol::positions::{Encoding, Position, Range};
use crate::protocol::types::{EditStep, FileRef, TextEdit, WorkspaceEdit};
use crate::sys::below::Hook;
use crate::sys::files;
use crate::workspace::disk::Disk;
use crate::workspace::roots::Roots;

pub(super) struct World {
    pub(super) top: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) roots: Roots,
    pub(super) disk: Arc<Disk>,
    pub(super) policy: Policy,
}

pub(super) const CALLER: u64 = 1;

impl World {
    /// In memory where there is such a place: syncing thousands of trees to a disk takes minutes.
    pub(super) fn new(files: &[(&str, &str)]) -> World {
        World::at(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap(), files)
    }

    pub(super) fn on_disk(files: &[(&str, &str)]) -> World {
        World::at(tempfile::tempdir().unwrap(), files)
    }

    fn at(top: tempfile::TempDir, files: &[(&str, &str)]) -> World {
        let root = top.path().canonicalize().unwrap().join("ws");
        files::create_dirs(&root).unwrap();
        let roots = Roots::new([&root]).unwrap();
        let disk = Arc::new(Disk::new(5 << 20, 64 << 20));
        let world = World { top, root, roots, disk, policy: Policy::default() };
        for (path, content) in files {
            world.write(path, content.as_bytes());
        }
        world
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(super) fn write(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        files::create_dirs(path.parent().unwrap()).unwrap();
        files::write(&path, content).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path(path)).unwrap()).unwrap()
    }

    pub(super) fn state(&self) -> PathBuf {
        self.top.path().canonicalize().unwrap().join("state")
    }

    pub(super) fn changes(&self) -> Changes {
        self.hooked(Hook::default())
    }

    pub(super) fn hooked(&self, hook: Hook) -> Changes {
        files::create_dirs(&self.state()).unwrap();
        Changes::hooked(&self.state(), &self.roots, self.policy.clone(), Limits::default(), hook)
    }

    pub(super) fn plan(&self, steps: Vec<EditStep>) -> Result<Plan, Refusal> {
        self.told(steps, &|_| None)
    }

    pub(super) fn told(&self, steps: Vec<EditStep>, told: &dyn Fn(&Path) -> Option<Told>) -> Result<Plan, Refusal> {
        let edit = WorkspaceEdit { steps, to_confirm: Vec::new() };
        crate::edits::plan(&self.roots, &self.disk, &self.policy, &edit, Encoding::Utf16, "test".into(), told)
    }

    /// Plans and applies.
    pub(super) fn make(&self, changes: &Changes, steps: Vec<EditStep>) -> Result<(PlanId, Applied), Refusal> {
        let id = changes.keep(CALLER, self.plan(steps)?)?;
        let applied = changes.apply(CALLER, &id)?;
        Ok((id, applied))
    }

    pub(super) fn tree(&self) -> BTreeMap<String, String> {
        tree(&self.root)
    }

    pub(super) fn texts(&self, path: &str, edits: &[(u32, u32, u32, u32, &str)]) -> EditStep {
        let edits = edits.iter().map(|(line, from, end, to, text)| TextEdit {
            range: Range {
                start: Position { line: *line, character: *from },
                end: Position { line: *end, character: *to },
            },
            text: (*text).to_owned(),
            snippet: false,
        });
        EditStep::Texts { file: self.file(path), version: None, edits: edits.collect() }
    }

    pub(super) fn create(&self, path: &str) -> EditStep {
        EditStep::Create { file: self.file(path), overwrite: false, ignore_if_exists: false }
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> EditStep {
        EditStep::Rename { from: self.file(from), to: self.file(to), overwrite: false, ignore_if_exists: false }
    }

    pub(super) fn delete(&self, path: &str) -> EditStep {
        EditStep::Delete { file: self.file(path), recursive: true, ignore_if_not_exists: false }
    }

    pub(super) fn file(&self, path: &str) -> FileRef {
        FileRef::Path(self.path(path))
    }
}

/// Every file with mode and content, every link with its target, every folder with its mode.
pub(super) fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let metadata = path.symlink_metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            if metadata.is_symlink() {
                all.insert(name, format!("-> {}", path.read_link().unwrap().display()));
            } else if metadata.is_dir() {
                all.insert(format!("{name}/"), format!("{mode:o}"));
                left.push(path);
            } else {
                let content = std::fs::read(&path).unwrap();
                all.insert(name, format!("{mode:o} {}", content.escape_ascii()));
            }
        }
    }
    all
}

/// The tree, a line each, without modes.
pub(super) fn shown(tree: &BTreeMap<String, String>) -> String {
    tree.iter().map(|(name, what)| format!("{name} {}\n", what.split_once(' ').map_or("", |(_, rest)| rest))).collect()
}

pub(super) fn refusal(refused: Result<Plan, Refusal>, world: &World) -> String {
    said(&refused.expect_err("it is refused"), world)
}

pub(super) fn said(refusal: &Refusal, world: &World) -> String {
    let top = world.top.path().canonicalize().unwrap();
    let shown =
        |path: &PathBuf| path.strip_prefix(&top).map_or("somewhere".to_owned(), |path| path.display().to_string());
    let path = refusal.path.as_ref().map(shown).unwrap_or_default();
    let leads = refusal.leads.as_ref().map(|leads| format!(" -> {}", shown(leads))).unwrap_or_default();
    format!("{}: {} ({path}{leads})", refusal.code.name(), refusal.what)
}
