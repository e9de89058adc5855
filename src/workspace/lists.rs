//! Files that list what a project consists of: compilation databases, and the `tsconfig.json` of TypeScript. Says which
//! list has a file, and rather none than a wrong one: what is on no list is looked at, what is on one is taken for known.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    fmt,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read},
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::sys::files::{self, Identity};

/// The largest configuration that is read, the largest compilation database, which is not kept as it stands, and the most
/// files of one.
const LARGEST: u64 = 1 << 20;
const DATABASE: u64 = 512 << 20;
const FILES: usize = 100_000;
/// Files that are looked for to read one list with all that it builds upon.
const CHAIN: usize = 48;
/// Lists that are kept as they were read.
const KEPT: usize = 256;
/// Folders that a list has only by their very names.
const OTHERS: &[&str] = &["node_modules", "bower_components", "jspm_packages"];
const TYPESCRIPT: &[&str] = &["ts", "tsx", "mts", "cts"];
const JAVASCRIPT: &[&str] = &["js", "jsx", "mjs", "cjs"];

/// The lists that were read, by place and ceiling, each kept while it stays as it was.
#[derive(Debug, Default)]
pub struct Lists(Mutex<HashMap<(PathBuf, PathBuf), Kept>>);

/// What was read for a list, and the list, where it is one.
type Kept = (Vec<Stamp>, Option<Arc<List>>);

/// A file that was read for a list, and as what.
type Stamp = (PathBuf, Option<Identity>);

#[derive(Debug)]
enum List {
    /// The files of a compilation database; others with such endings are not in the project, what they include is.
    Commands {
        files: HashSet<PathBuf>,
        endings: HashSet<OsString>,
    },
    Config {
        folder: PathBuf,
        files: HashSet<PathBuf>,
        include: GlobSet,
        exclude: GlobSet,
        javascript: bool,
    },
}

/// One entry of a compilation database.
#[derive(Deserialize)]
struct Command {
    #[serde(default)]
    directory: PathBuf,
    file: PathBuf,
}

impl Lists {
    /// The nearest list, from the file's own folder up to `ceiling`, that has a file. Nothing is read outside of that: a
    /// list that leads out, or builds upon what is there, is none.
    pub fn that_has(&self, names: &[String], file: &Path, ceiling: &Path) -> Option<PathBuf> {
        let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(ceiling));
        let places = folders.flat_map(|folder| names.iter().map(|name| folder.join(name)));
        places.into_iter().find(|place| self.read(place, ceiling).is_some_and(|list| list.has(file)))
    }

    fn read(&self, place: &Path, ceiling: &Path) -> Option<Arc<List>> {
        let key = (place.to_owned(), ceiling.to_owned());
        // Whoever asks for another list does not wait for this one to be read.
        let known = self.kept().get(&key).cloned();
        if let Some((stamps, list)) = known
            && stamps.iter().all(|(path, identity)| identity_of(path) == *identity)
        {
            return list;
        }
        let (began, mut stamps) = (files::now_ns(), Vec::new());
        let list = read(place, ceiling, &mut stamps).map(Arc::new);
        let mut kept = self.kept();
        if stamps.iter().all(|(_, identity)| identity.is_none_or(|identity| identity.is_proof(began))) {
            if kept.len() >= KEPT {
                kept.clear();
            }
            kept.insert(key, (stamps, list.clone()));
        } else {
            kept.remove(&key);
        }
        list
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<(PathBuf, PathBuf), Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity_of(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|metadata| files::identity(&metadata))
}

/// It is there, and leads out of the workspace.
struct Outside;

/// Opens a file for reading, where it is one.
fn opened(path: &Path, ceiling: &Path, stamps: &mut Vec<Stamp>) -> Result<Option<File>, Outside> {
    stamps.push((path.to_owned(), identity_of(path)));
    match fs::canonicalize(path) {
        Err(_) => return Ok(None),
        Ok(real) if !real.starts_with(ceiling) => return Err(Outside),
        Ok(_) => {}
    }
    Ok(files::open(path).ok().filter(|file| file.metadata().is_ok_and(|it| it.is_file())))
}

/// One that is too large is cut, and so is no configuration.
fn text(file: impl Read) -> Option<String> {
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn read(place: &Path, ceiling: &Path, stamps: &mut Vec<Stamp>) -> Option<List> {
    let folder = place.parent()?;
    let mut file = BufReader::new(opened(place, ceiling, stamps).ok()??.take(DATABASE));
    let begin = file.fill_buf().ok()?.trim_ascii_start();
    if begin.starts_with(b"[") {
        let mut inner = serde_json::Deserializer::from_reader(file);
        let files = Files { folder }.deserialize(&mut inner).ok()?;
        let endings = files.iter().filter_map(|file| file.extension()).map(OsString::from).collect();
        return Some(List::Commands { files, endings });
    }
    let own = text(file)?;
    let config = object(&own)?;
    let mut chain = Chain { names: HashMap::new(), javascript: None };
    chain.take(&config, folder);
    // What it builds upon; of several the last one counts first.
    let mut bases = bases(&config, folder);
    while let Some(base) = bases.pop() {
        if stamps.len() >= CHAIN {
            return None;
        }
        let mut with_ending = base.clone().into_os_string();
        with_ending.push(".json");
        let spelt = [base.clone(), with_ending.into(), base.join("tsconfig.json")];
        let mut found = None;
        for path in spelt {
            if let Some(file) = opened(&path, ceiling, stamps).ok()? {
                found = Some((path, text(file)?));
                break;
            }
        }
        let Some((path, text)) = found else { continue };
        let (config, from) = (object(&text)?, path.parent()?);
        chain.take(&config, from);
        bases.extend(self::bases(&config, from));
    }
    chain.list(place, folder)
}

/// The files of a compilation database.
struct Files<'a> {
    folder: &'a Path,
}

impl<'de> DeserializeSeed<'de> for Files<'_> {
    type Value = HashSet<PathBuf>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Files<'_> {
    type Value = HashSet<PathBuf>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of commands")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut commands: A) -> Result<Self::Value, A::Error> {
        let mut files = HashSet::new();
        while let Some(Command { directory, file }) = commands.next_element()? {
            files.insert(plain(&self.folder.join(directory).join(file)));
            if files.len() > FILES {
                return Err(A::Error::custom("too many files"));
            }
        }
        Ok(files)
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    jsonc_parser::parse_to_serde_value(text.trim_start_matches('\u{feff}'), &Default::default()).ok()
}

/// The configurations of this project that one builds upon; those of packages list nothing.
fn bases(config: &Map<String, Value>, folder: &Path) -> Vec<PathBuf> {
    let names = match config.get("extends") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => vec![name.as_str()],
        _ => Vec::new(),
    };
    names.into_iter().filter(|name| name.starts_with(['.', '/'])).map(|name| plain(&folder.join(name))).collect()
}

/// What a configuration says, the nearest word first.
struct Chain {
    /// By key the folder that they are relative to, and the texts.
    names: HashMap<&'static str, (PathBuf, Vec<String>)>,
    javascript: Option<bool>,
}

impl Chain {
    fn take(&mut self, config: &Map<String, Value>, folder: &Path) {
        for key in ["files", "include", "exclude"] {
            if let Some(Value::Array(texts)) = config.get(key) {
                let texts = texts.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                self.names.entry(key).or_insert_with(|| (folder.to_owned(), texts));
            }
        }
        let options = config.get("compilerOptions");
        let option = |name: &str| options.and_then(|options| options.get(name));
        let javascript = option("allowJs").or_else(|| option("checkJs")).and_then(Value::as_bool);
        self.javascript = self.javascript.or(javascript);
        for name in ["outDir", "declarationDir"] {
            if let Some(out) = option(name).and_then(Value::as_str) {
                self.names.entry("out").or_insert_with(|| (folder.to_owned(), vec![out.to_owned()]));
            }
        }
    }

    fn list(self, place: &Path, folder: &Path) -> Option<List> {
        let get = |key: &str| self.names.get(key).map(|(folder, texts)| (folder.as_path(), texts.as_slice()));
        let all = [String::from("**/*")];
        let include = match (get("include"), get("files")) {
            (Some(include), _) => include,
            (None, Some(_)) => (folder, &[][..]),
            (None, None) => (folder, &all[..]),
        };
        let files = get("files").map(|(from, files)| files.iter().map(|file| plain(&from.join(file))).collect());
        let exclude = get("exclude").or_else(|| get("out")).unwrap_or((folder, &[][..]));
        let of_javascript = place.file_name().is_some_and(|name| name == "jsconfig.json");
        Some(List::Config {
            folder: folder.to_owned(),
            files: files.unwrap_or_default(),
            include: globs(include)?,
            exclude: globs(exclude)?,
            javascript: self.javascript.unwrap_or(of_javascript),
        })
    }
}

/// Patterns of absolute paths: one without a wildcard also stands for what is below it.
fn globs((folder, patterns): (&Path, &[String])) -> Option<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let folder = globset::escape(folder.to_str()?);
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        if pattern.split('/').any(|part| part == "..") || pattern.starts_with('/') || pattern.contains("${") {
            return None;
        }
        let mut add = |text: String| {
            let glob = GlobBuilder::new(&text).literal_separator(true).build().ok()?;
            set.add(glob);
            Some(())
        };
        if pattern.is_empty() || pattern == "." {
            add(format!("{folder}/**"))?;
            continue;
        }
        // Its other characters mean themselves there.
        let pattern = pattern.replace('[', "[[]").replace('{', "[{]");
        add(format!("{folder}/{pattern}"))?;
        if !pattern.ends_with("**") {
            add(format!("{folder}/{pattern}/**"))?;
        }
    }
    set.build().ok()
}

impl List {
    fn has(&self, file: &Path) -> bool {
        match self {
            Self::Commands { files, endings } => {
                files.contains(file) || file.extension().is_some_and(|ending| !endings.contains(ending))
            }
            Self::Config { folder, files, include, exclude, javascript } => {
                let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
                let unusual = |part: Component<'_>| {
                    part.as_os_str().to_str().is_none_or(|part| part.starts_with('.') || OTHERS.contains(&part))
                };
                let takes = TYPESCRIPT.contains(&ending)
                    || !JAVASCRIPT.contains(&ending)
                    || *javascript && !file.to_string_lossy().ends_with(".min.js");
                let plain = || file.strip_prefix(folder).is_ok_and(|path| !path.components().any(unusual));
                files.contains(file) || takes && plain() && include.is_match(file) && !exclude.is_match(file)
            }
        }
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files for the test")]
mod tests {
    use super::*;

    struct Project(tempfile::TempDir);

    impl Project {
        fn new(files: &[(&str, &str)]) -> Self {
            let project = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = project.0.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text.replace("$root", project.0.path().to_str().unwrap())).unwrap();
            }
            project
        }

        fn list(&self, lists: &Lists, file: &str) -> Option<String> {
            let names = ["tsconfig.json", "jsconfig.json", "compile_commands.json", "build/compile_commands.json"];
            let root = self.0.path();
            let found = lists.that_has(&names.map(str::to_owned), &root.join(file), root)?;
            Some(found.strip_prefix(root).unwrap().display().to_string())
        }

        #[track_caller]
        fn check(&self, listed: &[(&str, Option<&str>)]) {
            let lists = Lists::default();
            for (file, list) in listed {
                assert_eq!(self.list(&lists, file).as_deref(), *list, "{file}");
            }
        }
    }

    #[test]
    fn what_a_tsconfig_lists() {
        let root = Some("tsconfig.json");
        Project::new(&[("tsconfig.json", "{}"), ("lib/jsconfig.json", "{}")]).check(&[
            ("a.ts", root),
            ("deep/b.tsx", root),
            ("c.js", None),
            ("lib/d.js", Some("lib/jsconfig.json")),
            (".hidden/e.ts", None),
            ("node_modules/f.ts", None),
        ]);
        let text = "// a comment\n{ \"include\": [\"src\", \"more/*.ts\",], \"exclude\": [\"src/old\"], \"compilerOptions\": {\"allowJs\": true} }";
        Project::new(&[("tsconfig.json", text)]).check(&[
            ("src/deep/a.ts", root),
            ("src/b.js", root),
            ("src/c.min.js", None),
            ("src/old/d.ts", None),
            ("more/e.ts", root),
            ("more/deep/f.ts", None),
            ("other/g.ts", None),
        ]);
        Project::new(&[("tsconfig.json", "{\"files\": [\"./a.ts\"]}")]).check(&[("a.ts", root), ("b.ts", None)]);
        Project::new(&[("tsconfig.json", "{ broken")]).check(&[("a.ts", None)]);
        Project::new(&[("tsconfig.json", "{\"include\": [\"../x\"]}")]).check(&[("a.ts", None)]);
    }

    #[test]
    fn what_it_builds_upon_counts() {
        let nested = Some("app/tsconfig.json");
        Project::new(&[
            ("tsconfig.json", "{\"extends\": [\"@org/base\", \"./base\"]}"),
            ("base.json", "{\"include\": [\"app\"], \"compilerOptions\": {\"outDir\": \"app/built\"}}"),
            ("app/tsconfig.json", "{\"extends\": \"../base.json\", \"include\": [\"in\"]}"),
        ])
        .check(&[
            ("app/in/a.ts", nested),
            ("app/b.ts", Some("tsconfig.json")),
            ("app/built/c.ts", None),
            ("d.ts", None),
        ]);
        Project::new(&[("tsconfig.json", "{\"extends\": \"./tsconfig.json\"}")]).check(&[("a.ts", None)]);
    }

    #[test]
    fn what_a_compilation_database_lists() {
        let commands = "[{\"directory\": \"$root/build\", \"file\": \"../a.cpp\", \"command\": \"\"}, {\"file\": \"$root/b.cpp\"}]";
        let list = Some("build/compile_commands.json");
        Project::new(&[("build/compile_commands.json", commands)]).check(&[
            ("a.cpp", list),
            ("b.cpp", list),
            ("c.cpp", None),
            ("lib.h", list),
        ]);
    }

    #[test]
    fn nothing_outside_is_read() {
        let list = |extends: &str, root: &str| {
            let project = Project::new(&[
                ("base.json", "{\"include\": [\"in\"]}"),
                ("in/tsconfig.json", &format!("{{\"extends\": \"{extends}\"}}")),
            ]);
            let root = project.0.path().join(root);
            let file = project.0.path().join("in/a.ts");
            Lists::default().that_has(&["tsconfig.json".to_owned()], &file, &root).is_some()
        };
        assert!(list("../base.json", ""));
        assert!(!list("../base.json", "in") && !list("/etc/passwd", "") && !list("../../../../etc/passwd", ""));
        assert!(list("./none.json", "in"), "what is not there says nothing");
        let project = Project::new(&[("base.json", "{}"), ("in/a.ts", "")]);
        std::os::unix::fs::symlink("../base.json", project.0.path().join("in/tsconfig.json")).unwrap();
        let found = |root: &Path| {
            Lists::default().that_has(&["tsconfig.json".to_owned()], &project.0.path().join("in/a.ts"), root).is_some()
        };
        assert!(found(project.0.path()) && !found(&project.0.path().join("in")));
    }

    #[test]
    fn a_database_has_so_many_files_at_most() {
        let commands = |count: usize| {
            let commands: Vec<String> = (0..count).map(|n| format!("{{\"file\": \"{n}.c\"}}")).collect();
            format!("[{}]", commands.join(","))
        };
        let list = |count: usize| {
            let project = Project::new(&[("compile_commands.json", &commands(count))]);
            project.list(&Lists::default(), "1.c").is_some()
        };
        assert!(list(FILES) && !list(FILES + 1));
    }

    #[test]
    fn a_list_that_changes_at_once_and_keeps_its_size_is_read_again() {
        let project = Project::new(&[("tsconfig.json", "{\"files\":[\"a.ts\"]}")]);
        let lists = Lists::default();
        for name in ["b", "a"].iter().cycle().take(200) {
            assert!(project.list(&lists, &format!("{name}.ts")).is_none());
            fs::write(project.0.path().join("tsconfig.json"), format!("{{\"files\":[\"{name}.ts\"]}}")).unwrap();
            assert!(project.list(&lists, &format!("{name}.ts")).is_some());
        }
    }

    #[test]
    fn a_list_that_changes_is_read_again() {
        let project = Project::new(&[("tsconfig.json", "{}")]);
        let lists = Lists::default();
        assert!(project.list(&lists, "a.ts").is_some());
        fs::write(project.0.path().join("tsconfig.json"), "{\"files\": []}").unwrap();
        assert!(project.list(&lists, "a.ts").is_none());
        fs::remove_file(project.0.path().join("tsconfig.json")).unwrap();
        assert!(project.list(&lists, "a.ts").is_none());
    }
}
