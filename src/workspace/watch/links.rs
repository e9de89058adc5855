//! Links inside the workspace: what changes in a folder, or in a file, changes under the name of a link to it, too, and
//! servers know files by either.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::rules::NEVER;

/// More links than these are not followed.
const LINKS: usize = 1_024;

/// The links that are known, with where they lead to.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<PathBuf, PathBuf>);

impl Links {
    /// True if it is new, or led elsewhere before.
    pub(super) fn add(&mut self, link: &Path, folder: &Path) -> bool {
        if self.0.len() >= LINKS && !self.0.contains_key(link) {
            return false;
        }
        self.0.insert(link.to_owned(), folder.to_owned()).is_none_or(|before| before != folder)
    }

    /// Where it led to.
    pub(super) fn remove(&mut self, link: &Path) -> Option<PathBuf> {
        self.0.remove(link)
    }

    /// The other names of a path, through one link each.
    pub(super) fn spellings(&self, path: &Path) -> Vec<PathBuf> {
        let spelt = |(link, led_to): (&PathBuf, &PathBuf)| {
            let rest = path.strip_prefix(led_to).ok()?;
            Some(if rest.as_os_str().is_empty() { link.clone() } else { link.join(rest) })
        };
        self.0.iter().filter_map(spelt).collect()
    }
}

/// The folder or file inside the roots that a link leads to; none if it leads to where it lies itself.
pub(super) fn target(link: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let led_to = link.canonicalize().ok()?;
    let inside = roots.iter().any(|root| led_to.starts_with(root)) && !link.starts_with(&led_to);
    let never = || led_to.iter().any(|part| NEVER.iter().any(|never| part == *never));
    (inside && !never()).then_some(led_to)
}

/// Whether a name that is there stands for nothing that could be read: a link that leads nowhere, a pipe, a socket.
pub(super) fn leads_nowhere(path: &Path) -> bool {
    match path.metadata() {
        Ok(there) => !there.is_file() && !there.is_dir(),
        // What is gone altogether has an event of its own.
        Err(_) => path.symlink_metadata().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_of_a_path() {
        let mut links = Links::default();
        assert!(links.add(Path::new("/w/a"), Path::new("/w/real")));
        assert!(links.add(Path::new("/w/b"), Path::new("/w/real/deep")));
        assert!(!links.add(Path::new("/w/b"), Path::new("/w/real/deep")));
        assert_eq!(links.spellings(Path::new("/w/real/x")), [Path::new("/w/a/x")]);
        assert_eq!(links.spellings(Path::new("/w/real/deep/x")), [Path::new("/w/a/deep/x"), Path::new("/w/b/x")]);
        assert!(links.add(Path::new("/w/l.py"), Path::new("/w/f.py")));
        assert_eq!(links.spellings(Path::new("/w/f.py")), [Path::new("/w/l.py")]);
        assert!(links.spellings(Path::new("/w/f.pyi")).is_empty());
        assert_eq!(links.remove(Path::new("/w/a")), Some(PathBuf::from("/w/real")));
        assert!(links.spellings(Path::new("/w/other")).is_empty());
    }

    #[test]
    fn links_out_of_the_workspace_and_to_themselves_are_not_followed() {
        let tmp = tempfile::tempdir().unwrap();
        let top = tmp.path().canonicalize().unwrap();
        let root = top.join("ws");
        crate::sys::files::create_dirs(&root.join("real")).unwrap();
        crate::sys::files::write(&root.join("file"), b"").unwrap();
        for (name, to) in
            [("in", root.join("real")), ("out", top.clone()), ("self", root.clone()), ("f", root.join("file"))]
        {
            std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        }
        let leads = |name: &str| target(&root.join(name), std::slice::from_ref(&root));
        assert_eq!(leads("in"), Some(root.join("real")));
        assert_eq!(leads("f"), Some(root.join("file")));
        assert_eq!([leads("out"), leads("self"), leads("none")], [None, None, None]);
    }
}
