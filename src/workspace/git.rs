//! What git knows of a workspace: which files differ from a revision, and their texts then. Only plumbing is run, with
//! everything switched off by which a repository's own configuration could execute something.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use tokio::time::{Duration, Instant};

use crate::sys::{
    capture::{CaptureError, Captured, capture},
    env::Env,
    process::{Bounds, Spawn},
};

/// Bytes that one listing may have.
const LISTING: usize = 16 << 20;
/// Bytes of the texts that are read at once, and how many those are.
const TEXTS: usize = 32 << 20;
const AT_ONCE: usize = 64;
/// Filters of a configuration that are switched off one by one.
const DRIVERS: usize = 500;
/// The longest that git may take for one step.
const LONGEST: Duration = Duration::from_secs(10);
/// Submodules that are looked at.
const NESTED: usize = 100;
/// Characters of a revision: more than any hash or path of references needs.
const REVISION: usize = 250;

/// Settings that take every command out of a repository's configuration, and the network with them.
const SAFE: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.askPass=",
    "protocol.allow=never",
    // A bare repository in a folder of the work tree would bring a configuration of its own.
    "safe.bareRepository=explicit",
];
/// What git sees of the environment.
const PASSED: &[&str] = &["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT", "USERPROFILE"];
const SET: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_PAGER", "cat"),
];

/// Why git does not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("`{given}` is no git revision: {why}")]
    Refused { given: String, why: &'static str },
    #[error("{path} is not in a git work tree", path = .0.display())]
    NoWorkTree(PathBuf),
    #[error("git knows no revision `{0}`")]
    Unknown(String),
    /// With git's own words.
    #[error("git failed")]
    Failed(String),
    #[error("git gave no answer: {0}")]
    Capture(#[from] CaptureError),
}

/// A file that differs from a revision, or may: git goes by time stamps here, only the texts decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub path: PathBuf,
    /// The object that held it; none where the revision does not have the file.
    pub before: Option<String>,
}

/// What differs below a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    pub files: Vec<Difference>,
    /// Repositories of their own in there, and the commit of each that belongs to the revision, where one does.
    pub nested: Vec<(PathBuf, Option<String>)>,
}

/// The program, and what it is run with.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    env: Vec<(String, String)>,
}

impl Git {
    /// Runs this program.
    pub fn new(program: PathBuf, vars: &Env) -> Self {
        let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), vars.get(name)?.to_owned())));
        let set = SET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { program, env: passed.chain(set).collect() }
    }

    /// The commit that a revision names.
    ///
    /// # Errors
    /// It is none, or the folder is in no work tree.
    pub async fn commit(&self, root: &Path, revision: &str, deadline: Instant) -> Result<String, GitError> {
        check(revision)?;
        let inside = self.run(root, &["rev-parse", "--is-inside-work-tree"], Vec::new(), 100, deadline).await?;
        if !inside.success || inside.stdout != b"true\n" {
            return Err(match inside.stderr.contains("dubious ownership") {
                true => GitError::Failed(inside.stderr),
                false => GitError::NoWorkTree(root.to_owned()),
            });
        }
        let peeled = format!("{revision}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled];
        let found = self.run(root, &arguments, Vec::new(), 1_000, deadline).await?;
        let hash = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if found.success && is_hash { Ok(hash) } else { Err(GitError::Unknown(revision.to_owned())) }
    }

    /// The files below `root` that may differ from a commit, untracked ones included, ignored ones not.
    ///
    /// # Errors
    /// git fails, is too slow, or has too much to say.
    pub async fn differences(&self, root: &Path, commit: &str, deadline: Instant) -> Result<Differences, GitError> {
        let raw = ["diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let mut arguments = raw.to_vec();
        // A submodule's state would be asked of a git of its own, with what that repository's configuration executes: it
        // is compared like a root.
        arguments.extend(["--ignore-submodules=all", "--relative", commit, "--", "."]);
        let untracked = ["ls-files", "-z", "--others", "--exclude-standard", "--", "."];
        let unfiltered = self.without_filters(root, deadline).await?;
        let (tracked, untracked, nested) = tokio::join!(
            unfiltered.run(root, &arguments, Vec::new(), LISTING, deadline),
            unfiltered.run(root, &untracked, Vec::new(), LISTING, deadline),
            self.submodules(root, commit, deadline)
        );
        let mut nested = nested?;
        let mut all: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
        for (path, before) in raw_entries(&good(tracked?)?) {
            all.insert(root.join(path), before);
        }
        for path in good(untracked?)?.split(|byte| *byte == 0) {
            // What ends in a slash is a repository of its own.
            if let Some(path) = path.strip_suffix(b"/") {
                nested.push((root.join(to_path(path)), None));
            } else if !path.is_empty() {
                all.entry(root.join(to_path(path))).or_default();
            }
        }
        let files = all.into_iter().map(|(path, before)| Difference { path, before }).collect();
        Ok(Differences { files, nested })
    }

    /// The submodules below `root` that are there, each with its commit in that one.
    async fn submodules(
        &self,
        root: &Path,
        commit: &str,
        deadline: Instant,
    ) -> Result<Vec<(PathBuf, Option<String>)>, GitError> {
        let top = good(self.run(root, &["rev-parse", "--show-toplevel"], Vec::new(), LISTING, deadline).await?)?;
        let top = to_path(top.strip_suffix(b"\n").unwrap_or(&top));
        let list = top.join(".gitmodules");
        let Some(file) = list.to_str().filter(|_| list.is_file()) else { return Ok(Vec::new()) };
        let arguments = ["config", "-z", "--file", file, "--no-includes", "--get-regexp", r"^submodule\..*\.path$"];
        // It ends with 1 where there is none.
        let named = self.run(root, &arguments, Vec::new(), LISTING, deadline).await?.stdout;
        let paths = named.split(|byte| *byte == 0).filter_map(|entry| entry.splitn(2, |byte| *byte == b'\n').nth(1));
        let mut nested = Vec::new();
        for path in paths.map(to_path).filter(|path| path.components().all(|part| matches!(part, Component::Normal(_))))
        {
            let path = top.join(path);
            // One that is not checked out has no files; git would take it for a folder of the outer repository.
            let Some(inside) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            if inside.is_empty() || !path.join(".git").exists() {
                continue;
            }
            if nested.len() == NESTED {
                return Err(GitError::Failed(format!("there are more than {NESTED} submodules")));
            }
            let arguments = ["--literal-pathspecs", "ls-tree", "-z", commit, "--", inside];
            let entry = good(self.run(root, &arguments, Vec::new(), LISTING, deadline).await?)?;
            let entry = String::from_utf8_lossy(&entry).into_owned();
            let hash = entry.strip_prefix("160000 commit ").and_then(|rest| rest.split('\t').next());
            let hash = hash.map(str::to_owned);
            nested.push((path, hash));
        }
        Ok(nested)
    }

    /// The texts of objects, as far as they are to be had; without byte order mark, as files are read.
    pub async fn texts(&self, root: &Path, objects: &[String], deadline: Instant) -> HashMap<String, Arc<str>> {
        let mut texts = HashMap::new();
        for some in objects.chunks(AT_ONCE) {
            let input = some.iter().flat_map(|object| [object.as_bytes(), b"\n"].concat()).collect();
            let Ok(answer) = self.run(root, &["cat-file", "--batch"], input, TEXTS, deadline).await else { continue };
            texts.extend(batch(&answer.stdout));
        }
        texts
    }

    /// Runs no filter of the configuration. A file that was written in the same moment as the index is compared by its
    /// content, and that goes through the program that the repository names for it.
    async fn without_filters(&self, root: &Path, deadline: Instant) -> Result<Self, GitError> {
        let arguments = ["config", "-z", "--name-only", "--get-regexp", "^filter\\."];
        // It ends with 1 where there is none.
        let named = self.run(root, &arguments, Vec::new(), LISTING, deadline).await?;
        let drivers: BTreeSet<String> = named.stdout.split(|byte| *byte == 0).filter_map(driver).collect();
        if drivers.len() > DRIVERS {
            return Err(GitError::Failed(format!("the configuration has more than {DRIVERS} filters")));
        }
        let off = ["clean=", "smudge=", "process=", "required=false"];
        let settings = drivers.iter().flat_map(|driver| off.map(|setting| (driver, setting)));
        let mut env = self.env.clone();
        let mut number = 0;
        for (driver, setting) in settings {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            env.push((format!("GIT_CONFIG_KEY_{number}"), format!("filter.{driver}.{key}")));
            env.push((format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()));
            number += 1;
        }
        env.push(("GIT_CONFIG_COUNT".to_owned(), number.to_string()));
        Ok(Self { program: self.program.clone(), env })
    }

    async fn run(
        &self,
        root: &Path,
        arguments: &[&str],
        input: Vec<u8>,
        limit: usize,
        deadline: Instant,
    ) -> Result<Captured, GitError> {
        let settings = SAFE.iter().flat_map(|setting| ["-c", setting]);
        let all = ["--no-pager"].into_iter().chain(settings).chain(arguments.iter().copied());
        let spawn = Spawn {
            program: self.program.clone(),
            args: all.map(str::to_owned).collect(),
            cwd: root.to_owned(),
            env: self.env.clone(),
            bounds: Bounds::default(),
        };
        let longest = deadline.saturating_duration_since(Instant::now()).min(LONGEST);
        Ok(capture(&spawn, input, limit, longest).await?)
    }
}

/// The driver that a key `filter.DRIVER.VARIABLE` is about; its name may hold anything.
fn driver(key: &[u8]) -> Option<String> {
    let key = std::str::from_utf8(key).ok()?;
    let (driver, _) = key.strip_prefix("filter.")?.rsplit_once('.')?;
    Some(driver.to_owned())
}

fn good(captured: Captured) -> Result<Vec<u8>, GitError> {
    if captured.success { Ok(captured.stdout) } else { Err(GitError::Failed(captured.stderr)) }
}

/// What is no revision is refused before git sees it: above all what it would take for an option.
fn check(revision: &str) -> Result<(), GitError> {
    let why = if revision.is_empty() {
        "it is empty"
    } else if revision.starts_with('-') {
        "it begins with `-`"
    } else if revision.chars().count() > REVISION {
        "it is too long"
    } else if revision.chars().any(char::is_control) {
        "it holds a control character"
    } else if revision.contains("..") {
        "it is a range: one revision is compared with the files as they are"
    } else {
        return Ok(());
    };
    Err(GitError::Refused { given: revision.chars().take(60).collect(), why })
}

/// `:OLDMODE NEWMODE OLDOBJECT NEWOBJECT STATUS NUL PATH NUL`, again and again.
fn raw_entries(raw: &[u8]) -> Vec<(PathBuf, Option<String>)> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        let about = String::from_utf8_lossy(about);
        let words: Vec<&str> = about.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, object, ..] = words[..] else { continue };
        // Submodules have no text.
        if old_mode == "160000" || new_mode == "160000" {
            continue;
        }
        // Links are no texts either: what takes their place is new.
        let held = old_mode.starts_with("100") && object.bytes().any(|byte| byte != b'0');
        entries.push((to_path(path), held.then(|| object.to_owned())));
    }
    entries
}

/// `OBJECT blob SIZE LF BYTES LF`, again and again; `OBJECT missing LF` for what is not there.
fn batch(mut raw: &[u8]) -> Vec<(String, Arc<str>)> {
    let mut texts = Vec::new();
    while let Some(end) = raw.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&raw[..end]).into_owned();
        raw = &raw[end + 1..];
        let words: Vec<&str> = head.split(' ').collect();
        let [object, kind, size] = words[..] else { continue };
        let Some(size) = size.parse().ok().filter(|size: &usize| *size < raw.len()) else { break };
        let (bytes, rest) = raw.split_at(size);
        raw = &rest[1..];
        if kind == "blob" {
            let text = String::from_utf8_lossy(bytes);
            texts.push((object.to_owned(), text.trim_start_matches('\u{feff}').into()));
        }
    }
    texts
}

#[cfg(unix)]
fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn to_path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn refused(revision: &str, expected: &Expect) {
        expected.assert_eq(&check(revision).map_or_else(|error| error.to_string(), |()| "fine".into()));
    }

    #[test]
    fn what_git_would_take_for_something_else_is_refused() {
        refused("main~2", &expect!["fine"]);
        refused("HEAD@{1 day ago}", &expect!["fine"]);
        refused("--output=x", &expect!["`--output=x` is no git revision: it begins with `-`"]);
        refused(
            "a..b",
            &expect!["`a..b` is no git revision: it is a range: one revision is compared with the files as they are"],
        );
        refused("a\nb", &expect!["`a\nb` is no git revision: it holds a control character"]);
    }

    #[test]
    fn drivers_of_filters() {
        let names =
            ["filter.evil.clean", "filter.a.b=c.process", "filter.x\ny.smudge", "filter.clean", "other.x.clean"];
        let drivers: Vec<_> = names.map(|name| driver(name.as_bytes())).into_iter().flatten().collect();
        assert_eq!(drivers, ["evil", "a.b=c", "x\ny"]);
        assert_eq!(driver(b"filter.\xff.clean"), None);
    }

    #[test]
    fn listings_and_texts() {
        let one = "1".repeat(40);
        let none = "0".repeat(40);
        let raw = format!(
            ":100644 100644 {one} {none} M\0a b.py\0:000000 100644 {none} {one} A\0new.py\0\
             :160000 160000 {one} {none} M\0sub\0:120000 100644 {one} {none} T\0link.py\0"
        );
        let entries = raw_entries(raw.as_bytes());
        let shown: Vec<_> =
            entries.iter().map(|(path, before)| format!("{} {}", path.display(), before.is_some())).collect();
        assert_eq!(shown, ["a b.py true", "new.py false", "link.py false"]);
        let raw = b"aa blob 4\nx\ny\n\nbb missing\ncc blob 0\n\n";
        let texts: Vec<_> = batch(raw).into_iter().map(|(object, text)| format!("{object}={text:?}")).collect();
        assert_eq!(texts, ["aa=\"x\\ny\\n\"", "cc=\"\""]);
        assert!(batch(b"aa blob 99\nshort").is_empty());
    }
}
