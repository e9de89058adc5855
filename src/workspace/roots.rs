//! The allowed roots: every spelling of a path that agents use comes to one canonical file inside them, or to an
//! error that names where it led.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::sys::env;
use crate::workspace::uri;

/// More than any system takes.
const LONGEST: usize = 4096;

/// A folder that langport may look into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its last component, with a number behind it where two would be alike.
    pub name: String,
    /// Canonical.
    pub path: PathBuf,
}

/// A file inside the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Canonical.
    pub path: PathBuf,
    /// The index of the innermost root that holds it.
    pub root: usize,
}

/// Why a path is of no use. Each names the resolved path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("{path} is outside the workspace", path = .0.display())]
    OutsideWorkspace(PathBuf),
    #[error("{path} does not exist", path = .0.display())]
    NotFound(PathBuf),
    /// Nobody can tell whether it exists.
    #[error("{path} cannot be reached: permission denied", path = .0.display())]
    Denied(PathBuf),
    #[error("the folder of the workspace is gone: {path}", path = .0.display())]
    RootGone(PathBuf),
    #[error("{path} is a folder", path = .0.display())]
    IsDirectory(PathBuf),
    /// Several roots have it; each in its root.
    #[error("{} paths are called so: {}", .0.len(), listed(.0))]
    Ambiguous(Vec<PathBuf>),
    /// The path as it was given, and why it is none.
    #[error("`{given}` is no path of a file: {why}")]
    Invalid { given: String, why: &'static str },
}

/// A root that cannot be one.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("cannot use {path} as a workspace root: {why}", path = path.display())]
    Unreachable { path: PathBuf, why: io::Error },
    #[error("cannot use {path} as a workspace root: it is not a folder", path = .0.display())]
    NotAFolder(PathBuf),
    #[error("a workspace needs at least one root")]
    None,
}

/// The roots, in the order given, each once. There is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    roots: Vec<Root>,
}

impl Roots {
    /// Resolves the given folders.
    ///
    /// # Errors
    /// When there is none, or one is not a folder that can be reached.
    pub fn new(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Roots, RootError> {
        let mut roots: Vec<Root> = Vec::new();
        for given in paths {
            let given = given.as_ref();
            let path = given.canonicalize().map_err(|why| RootError::Unreachable { path: given.to_owned(), why })?;
            if !path.is_dir() {
                return Err(RootError::NotAFolder(path));
            }
            // One whose files cannot be listed would look as if it had none.
            path.read_dir().map_err(|why| RootError::Unreachable { path: path.clone(), why })?;
            if roots.iter().any(|root| root.path == path) {
                continue;
            }
            let plain = path.file_name().map_or("root".into(), |name| name.to_string_lossy().into_owned());
            let numbered = (2..).map(|number| format!("{plain}-{number}"));
            let mut names = std::iter::once(plain.clone()).chain(numbered);
            let name = names.find(|name| roots.iter().all(|root| root.name != *name)).unwrap_or(plain);
            roots.push(Root { name, path });
        }
        if roots.is_empty() { Err(RootError::None) } else { Ok(Roots { roots }) }
    }

    /// All of them; never empty.
    #[must_use]
    pub fn all(&self) -> &[Root] {
        &self.roots
    }

    /// Finds the file that an agent means: relative to a root (its name in front where there are several), absolute,
    /// below `~`, or a `file:` URI; with back-slashes, `.`, `..` and blanks around it.
    ///
    /// # Errors
    /// When that is no existing file inside the roots, links resolved, or several are.
    pub fn resolve(&self, given: &str) -> Result<Located, PathError> {
        // A folder is nothing that could be meant where a file is asked for.
        let located = self.find(given, |path| !path.is_dir())?;
        if located.path.is_dir() { Err(PathError::IsDirectory(located.path)) } else { Ok(located) }
    }

    /// As [`Roots::resolve`], but a folder is fine too.
    ///
    /// # Errors
    /// When nothing inside the roots goes by that path, or several things do.
    pub fn resolve_any(&self, given: &str) -> Result<Located, PathError> {
        self.find(given, |_| true)
    }

    /// Where something is, or is to be made. A root that lacks it is meant as likely as one that has it.
    ///
    /// # Errors
    /// When that is outside the roots, or may be in several of them.
    pub fn resolve_new(&self, given: &str) -> Result<PathBuf, PathError> {
        let there_or_not = |found: Result<Located, PathError>| match found {
            Ok(there) => Ok(there.path),
            Err(PathError::NotFound(path)) => Ok(path),
            Err(error) => Err(error),
        };
        if self.roots.len() == 1 {
            return there_or_not(self.resolve_any(given));
        }
        let spellings = self.spellings(given)?;
        if let Some(named) = spellings.iter().find_map(|readings| readings.named.as_deref()) {
            return there_or_not(self.locate(named));
        }
        let below = spellings.first().map(|readings| &*readings.below).unwrap_or_default();
        let (mut places, mut first_error) = (Vec::new(), None);
        for place in below.iter().map(|path| there_or_not(self.locate(path))) {
            match place {
                Ok(place) if places.contains(&place) => {}
                Ok(place) => places.push(place),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        let beside = |place: &PathBuf| place.parent().is_some_and(Path::is_dir);
        if places.iter().any(beside) {
            places.retain(beside);
        }
        match places.len() {
            0 => Err(first_error.unwrap_or_else(|| invalid(given, "it is empty"))),
            1 => Ok(places.swap_remove(0)),
            _ => Err(PathError::Ambiguous(places)),
        }
    }

    /// The one thing that goes by this path; where several do, those that fit before the others.
    fn find(&self, given: &str, fits: impl Fn(&Path) -> bool) -> Result<Located, PathError> {
        let mut first_error = None;
        for readings in self.spellings(given)? {
            let (named, below) = (readings.named.into_iter().collect(), readings.below);
            // With one root its name is not part of a path, but agents put it there.
            let groups: [Vec<PathBuf>; 2] = if self.roots.len() > 1 { [named, below] } else { [below, named] };
            for group in groups {
                let mut found: Vec<Located> = Vec::new();
                for candidate in group {
                    match self.locate(&candidate) {
                        Ok(located) if found.contains(&located) => {}
                        Ok(located) => found.push(located),
                        // The first reading is the plainest one; what it led to helps most. But that a later one exists
                        // outside must not be told by an earlier one's error.
                        Err(error) => first_error = first_error.or(Some(error)),
                    }
                }
                if found.iter().any(|located| fits(&located.path)) {
                    found.retain(|located| fits(&located.path));
                }
                match found.len() {
                    0 => {}
                    1 => return Ok(found.swap_remove(0)),
                    _ => return Err(PathError::Ambiguous(found.into_iter().map(|located| located.path).collect())),
                }
            }
        }
        Err(first_error.unwrap_or_else(|| invalid(given, "it is empty")))
    }

    /// The link that a path names, where it names one in a root: wherever that leads.
    #[must_use]
    pub fn link(&self, given: &str) -> Option<PathBuf> {
        let spellings = self.spellings(given).ok()?.into_iter();
        let all = spellings.flat_map(|Readings { named, mut below }| {
            // As `find` goes through them.
            let at = if self.roots.len() > 1 { 0 } else { below.len() };
            below.splice(at..at, named);
            below
        });
        let mut places = all.filter_map(|reading| self.place(&reading).ok());
        places.find(|place| place.symlink_metadata().is_ok()).filter(|place| place.is_symlink())
    }

    /// Is this path, or what it links to, inside a root? What does not exist yet is where its nearest existing
    /// parent is.
    #[must_use]
    pub fn contains(&self, path: &Path) -> bool {
        self.root_of(path).is_some()
    }

    /// The index of the innermost root that holds this path, links resolved.
    #[must_use]
    pub fn root_of(&self, path: &Path) -> Option<usize> {
        self.innermost(&settle(path).ok()?.0)
    }

    /// Where a path would be: the folder that holds it with links resolved (of what does not exist yet, its nearest
    /// existing parent), its own name as it stands, whether it is a link or nothing yet.
    ///
    /// # Errors
    /// When it names no file, or one outside the roots.
    pub fn place(&self, path: &Path) -> Result<PathBuf, PathError> {
        let named = path.parent().zip(path.file_name()).filter(|_| path.is_absolute());
        let (parent, name) = named.ok_or_else(|| invalid(&path.to_string_lossy(), "it names no file"))?;
        let settled = settle(parent).map_err(|_| PathError::NotFound(path.to_owned()))?.0.join(name);
        if self.innermost(&settled).is_some() { Ok(settled) } else { Err(PathError::OutsideWorkspace(settled)) }
    }

    /// How answers print a path: relative to its root, after the root's name where there are several, with forward
    /// slashes; absolute outside.
    #[must_use]
    pub fn display(&self, path: &Path) -> String {
        let Some(index) = self.innermost(path) else { return path.display().to_string() };
        let root = &self.roots[index];
        let parts = path.strip_prefix(&root.path).unwrap_or(path).components();
        let parts = parts.map(|part| part.as_os_str().to_string_lossy().into_owned());
        let name = Some(root.name.clone()).filter(|_| self.roots.len() > 1);
        let shown = name.into_iter().chain(parts).collect::<Vec<_>>().join("/");
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    /// The path that [`display`](Self::display) shows so.
    #[must_use]
    pub fn displayed(&self, shown: &str) -> PathBuf {
        let (name, rest) = shown.split_once('/').unwrap_or((shown, ""));
        match self.roots.iter().find(|root| self.roots.len() > 1 && root.name == name) {
            Some(root) => root.path.join(rest),
            None => self.roots[0].path.join(shown),
        }
    }

    /// A text with the paths and `file:` URIs in it that lie in a root shown as [`display`](Self::display) shows them.
    pub fn relative(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // A root inside another one goes first.
        let mut roots: Vec<&Root> = self.roots.iter().collect();
        roots.sort_by_key(|root| std::cmp::Reverse(root.path.as_os_str().len()));
        for root in roots {
            let Some(path) = root.path.to_str().filter(|path| path.len() > 1) else { continue };
            let shown = if self.roots.len() > 1 { format!("{}/", root.name) } else { String::new() };
            let spelt =
                [format!("file://{path}/"), uri::from_path(&root.path).map_or_else(String::new, |uri| uri + "/")];
            for spelling in spelt.iter().filter(|spelling| spelling.len() > 1) {
                if text.contains(spelling.as_str()) {
                    text = text.replace(spelling.as_str(), &shown);
                }
            }
            text = replace_paths(&text, &format!("{path}/"), &shown);
        }
        text
    }

    /// `path` is canonical.
    fn innermost(&self, path: &Path) -> Option<usize> {
        let holders = self.roots.iter().enumerate().filter(|(_, root)| path.starts_with(&root.path));
        holders.max_by_key(|(_, root)| root.path.components().count()).map(|(index, _)| index)
    }

    fn locate(&self, path: &Path) -> Result<Located, PathError> {
        let (settled, there) = settle(path).map_err(|_| PathError::NotFound(path.to_owned()))?;
        // Before existence: whether something exists outside is nobody's business.
        let Some(root) = self.innermost(&settled) else { return Err(PathError::OutsideWorkspace(settled)) };
        match there {
            There::Yes => return Ok(Located { path: settled, root }),
            There::Hidden => return Err(PathError::Denied(settled)),
            There::No => {}
        }
        let top = &self.roots[root].path;
        Err(if top.is_dir() { PathError::NotFound(settled) } else { PathError::RootGone(top.clone()) })
    }

    /// What was given in each spelling that it may be meant in, the plainest first.
    fn spellings(&self, given: &str) -> Result<Vec<Readings>, PathError> {
        let trimmed = given.trim();
        if trimmed.is_empty() {
            return Err(invalid(given, "it is empty"));
        }
        if given.len() > LONGEST {
            return Err(invalid(given, "it is too long"));
        }
        if given.contains('\0') {
            return Err(invalid(given, "it holds a NUL character"));
        }
        if trimmed.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
            let path = uri::to_path(trimmed);
            let path = path.ok_or_else(|| invalid(given, "that URI names no file of this machine"))?;
            return Ok(vec![Readings::sure(path)]);
        }
        if let Some((scheme, _)) = trimmed.split_once("://")
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        {
            return Err(invalid(given, "only file: URIs are files"));
        }
        let mut spellings = vec![given.to_owned()];
        // As it stands first: a file may be called `a\b`, or end in a blank.
        for spelling in [trimmed.to_owned(), trimmed.replace('\\', "/")] {
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
        Ok(spellings.iter().map(|spelling| self.readings(spelling)).collect())
    }

    fn readings(&self, spelling: &str) -> Readings {
        if Path::new(spelling).is_absolute() {
            return Readings::sure(PathBuf::from(spelling));
        }
        let home = if spelling == "~" { Some("") } else { spelling.strip_prefix("~/") };
        if let Some((rest, home)) = home.zip(env::home()) {
            return Readings::sure(home.join(rest));
        }
        let parts: PathBuf = Path::new(spelling).components().filter(|part| *part != Component::CurDir).collect();
        Readings {
            named: self.roots.iter().find_map(|root| Some(root.path.join(parts.strip_prefix(&root.name).ok()?))),
            below: self.roots.iter().map(|root| root.path.join(spelling)).collect(),
        }
    }
}

/// The absolute paths that a spelling may stand for.
struct Readings {
    /// The root is named, or the path is absolute.
    named: Option<PathBuf>,
    /// Below each root.
    below: Vec<PathBuf>,
}

impl Readings {
    fn sure(path: PathBuf) -> Self {
        Self { named: Some(path), below: Vec::new() }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn invalid(given: &str, why: &'static str) -> PathError {
    PathError::Invalid { given: given.chars().take(200).collect(), why }
}

/// The canonical path; of what does not exist, that of its nearest existing parent and the rest. As it is given where
/// that cannot be found.
#[must_use]
pub fn canonical(path: &Path) -> PathBuf {
    settle(path).map_or_else(|_| path.to_owned(), |(path, _)| path)
}

/// Whether something exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum There {
    Yes,
    No,
    /// A folder above it lets nobody look.
    Hidden,
}

/// The canonical path and whether it exists. Of what does not exist, the nearest existing parent is resolved, and
/// the rest, with its `..` taken literally, follows. A dangling link counts as what it points to.
pub(super) fn settle(path: &Path) -> io::Result<(PathBuf, There)> {
    let mut path = path.to_owned();
    let mut hidden = false;
    // As many as the kernel follows.
    for links in 0..40 {
        let mut rest: Vec<Component<'_>> = Vec::new();
        let mut at = &*path;
        let target = loop {
            let found = at.canonicalize();
            hidden |= found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
            if let Ok(mut settled) = found {
                for part in rest.iter().rev() {
                    match part {
                        Component::ParentDir => drop(settled.pop()),
                        part => settled.push(part),
                    }
                }
                let there = match links == 0 && rest.is_empty() {
                    true => There::Yes,
                    false if hidden => There::Hidden,
                    false => There::No,
                };
                return Ok((settled, there));
            }
            if let Ok(target) = at.read_link() {
                break at.parent().unwrap_or(at).join(target);
            }
            rest.extend(at.components().next_back());
            at = at.parent().ok_or(io::ErrorKind::NotFound)?;
        };
        path = rest.iter().rev().fold(target, |path, part| path.join(part));
    }
    Err(io::Error::other("too many links"))
}

/// Replaces a path where one begins: not the end of a longer one.
fn replace_paths(text: &str, path: &str, shown: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path) {
        let before = &rest[..at];
        out.push_str(before);
        let inside = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_'));
        out.push_str(if inside { path } else { shown });
        rest = &rest[at + path.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
