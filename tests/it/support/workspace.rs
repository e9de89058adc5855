//! Folders that tests work in, written from one text: `//- path` begins a file, `$0` marks a place.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

/// A place in a file as agents count: 1-based, code points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A temporary folder with a workspace `ws` and langport's own folders `config`, `state`, `data`; all gone on drop.
pub(crate) struct Workspace {
    home: tempfile::TempDir,
    root: PathBuf,
    marks: Vec<Mark>,
}

/// Begins the names of all folders that this run makes.
pub(crate) fn prefix() -> String {
    format!("langport-it-{}-", std::process::id())
}

impl Workspace {
    pub(crate) fn new(fixture: &str) -> Self {
        Self::named("ws", fixture)
    }

    /// As `new`, the root folder having this name.
    pub(crate) fn named(name: &str, fixture: &str) -> Self {
        Self::below(tempfile::Builder::new().prefix(&prefix()).tempdir().expect("a temporary folder"), name, fixture)
    }

    /// As `new`, where the program was built: there is a disk, while the folder for temporary files may be in memory.
    pub(crate) fn on_disk(fixture: &str) -> Self {
        let home = tempfile::Builder::new().prefix(&prefix()).tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self::below(home.expect("a folder"), "ws", fixture)
    }

    fn below(home: tempfile::TempDir, name: &str, fixture: &str) -> Self {
        let root = home.path().canonicalize().expect("it exists").join(name);
        fs::create_dir_all(&root).expect("a root");
        Self::made(home, root, fixture)
    }

    /// As `new`, in a folder that is there already and stays.
    pub(crate) fn inside(root: &Path, fixture: &str) -> Self {
        let home = tempfile::Builder::new().prefix(&prefix()).tempdir().expect("a temporary folder");
        Self::made(home, root.canonicalize().expect("it exists"), fixture)
    }

    fn made(home: tempfile::TempDir, root: PathBuf, fixture: &str) -> Self {
        let mut workspace = Self { home, root, marks: Vec::new() };
        for (path, text) in parse(fixture) {
            let (text, marks) = without_marks(&path, &text);
            workspace.marks.extend(marks);
            workspace.write(&path, &text);
        }
        workspace
    }

    /// Unique to this workspace, and part of its path.
    pub(crate) fn mark_text(&self) -> String {
        self.home.path().file_name().expect("it has a name").to_string_lossy().into_owned()
    }

    /// The folder above the root, with langport's own folders.
    pub(crate) fn home(&self) -> PathBuf {
        self.home.path().canonicalize().expect("it exists")
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn uri(&self, relative: &str) -> String {
        url::Url::from_file_path(self.path(relative)).expect("an absolute path").into()
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).expect("a readable file")
    }

    /// Writes in place, folders included. A file is not emptied first: that wakes whoever watches it, and on a crowded
    /// machine it would stay empty for as long as those take.
    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("inside the root")).expect("folders");
        let mut file = fs::File::options().write(true).create(true).truncate(false).open(path).expect("a file");
        let old = file.metadata().expect("a file").len();
        file.write_all(text.as_bytes()).expect("a written file");
        let new = u64::try_from(text.len()).expect("a length");
        if old > new {
            file.set_len(new).expect("a shorter file");
        }
    }

    /// Writes as editors do: beside it, then renamed.
    pub(crate) fn replace(&self, relative: &str, text: &str) {
        let beside = format!("{relative}.tmp~");
        self.write(&beside, text);
        fs::rename(self.path(&beside), self.path(relative)).expect("a renamed file");
    }

    pub(crate) fn remove(&self, relative: &str) {
        fs::remove_file(self.path(relative)).expect("a removed file");
    }

    /// A path for an [`Act::Await`](crate::fake::script::Act) that [`open`](Self::open) lets go.
    pub(crate) fn gate(&self, name: &str) -> PathBuf {
        self.home().join(format!("gate-{name}"))
    }

    pub(crate) fn open(&self, name: &str) {
        fs::write(self.gate(name), "").expect("a gate");
    }

    /// The `$0` marks, in the order of the fixture.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The only mark, as arguments of a position tool.
    pub(crate) fn at(&self) -> Value {
        self.nth(0)
    }

    pub(crate) fn nth(&self, index: usize) -> Value {
        let mark = &self.marks[index];
        json!({"file_path": mark.file, "line": mark.line, "column": mark.column})
    }
}

fn parse(fixture: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in fixture.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("//- ") {
            let path = path.trim_end_matches('\n').to_owned();
            files.insert(path.clone(), String::new());
            current = Some(path);
        } else if let Some(file) = current.as_ref().and_then(|c| files.get_mut(c)) {
            file.push_str(line);
        } else {
            assert!(line.trim().is_empty(), "a fixture begins with `//- path`, not {line:?}");
        }
    }
    files
}

fn without_marks(file: &str, text: &str) -> (String, Vec<Mark>) {
    let mut clean = String::new();
    let mut marks = Vec::new();
    for (i, part) in text.split("$0").enumerate() {
        if i > 0 {
            let line = clean.matches('\n').count() + 1;
            let column = clean.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            marks.push(Mark { file: file.to_owned(), line, column });
        }
        clean.push_str(part);
    }
    (clean, marks)
}
