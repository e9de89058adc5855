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
    #[error("the folder of the workspace is gone: {path}", path = .0.display())]
    RootGone(PathBuf),
    #[error("{path} is a folder", path = .0.display())]
    IsDirectory(PathBuf),
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
    /// When that is no existing file inside the roots, links resolved.
    pub fn resolve(&self, given: &str) -> Result<Located, PathError> {
        let located = self.resolve_any(given)?;
        if located.path.is_dir() { Err(PathError::IsDirectory(located.path)) } else { Ok(located) }
    }

    /// As [`Roots::resolve`], but a folder is fine too.
    ///
    /// # Errors
    /// When nothing inside the roots goes by that path.
    pub fn resolve_any(&self, given: &str) -> Result<Located, PathError> {
        let mut first_error = None;
        for candidate in self.candidates(given)? {
            match self.locate(&candidate) {
                Ok(located) => return Ok(located),
                // The first reading is the plainest one; what it led to helps most. But that a later one exists
                // outside must not be told by an earlier one's error.
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| invalid(given, "it is empty")))
    }

    /// The link that a path names, where it names one in a root: wherever that leads.
    #[must_use]
    pub fn link(&self, given: &str) -> Option<PathBuf> {
        let places = self.candidates(given).ok()?.into_iter().filter_map(|candidate| self.place(&candidate).ok());
        places.into_iter().find(|place| place.symlink_metadata().is_ok()).filter(|place| place.is_symlink())
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
        let (settled, exists) = settle(path).map_err(|_| PathError::NotFound(path.to_owned()))?;
        // Before existence: whether something exists outside is nobody's business.
        let Some(root) = self.innermost(&settled) else { return Err(PathError::OutsideWorkspace(settled)) };
        if exists {
            return Ok(Located { path: settled, root });
        }
        let top = &self.roots[root].path;
        Err(if top.is_dir() { PathError::NotFound(settled) } else { PathError::RootGone(top.clone()) })
    }

    /// Absolute readings of what was given, the plainest first.
    fn candidates(&self, given: &str) -> Result<Vec<PathBuf>, PathError> {
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
            return path.map(|path| vec![path]).ok_or_else(|| invalid(given, "that URI names no file of this machine"));
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
        Ok(spellings.iter().flat_map(|spelling| self.readings(spelling)).collect())
    }

    fn readings(&self, spelling: &str) -> Vec<PathBuf> {
        if Path::new(spelling).is_absolute() {
            return vec![PathBuf::from(spelling)];
        }
        let home = if spelling == "~" { Some("") } else { spelling.strip_prefix("~/") };
        if let Some((rest, home)) = home.zip(env::home()) {
            return vec![home.join(rest)];
        }
        let parts: PathBuf = Path::new(spelling).components().filter(|part| *part != Component::CurDir).collect();
        let by_name = self.roots.iter().find_map(|root| Some(root.path.join(parts.strip_prefix(&root.name).ok()?)));
        let by_root = self.roots.iter().map(|root| root.path.join(spelling));
        if self.roots.len() > 1 {
            by_name.into_iter().chain(by_root).collect()
        } else {
            // With one root its name is not part of a path, but agents put it there.
            by_root.chain(by_name).collect()
        }
    }
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

/// The canonical path and whether it exists. Of what does not exist, the nearest existing parent is resolved, and
/// the rest, with its `..` taken literally, follows. A dangling link counts as what it points to.
fn settle(path: &Path) -> io::Result<(PathBuf, bool)> {
    let mut path = path.to_owned();
    // As many as the kernel follows.
    for links in 0..40 {
        let mut rest: Vec<Component<'_>> = Vec::new();
        let mut at = &*path;
        let target = loop {
            if let Ok(mut settled) = at.canonicalize() {
                for part in rest.iter().rev() {
                    match part {
                        Component::ParentDir => drop(settled.pop()),
                        part => settled.push(part),
                    }
                }
                return Ok((settled, links == 0 && rest.is_empty()));
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
