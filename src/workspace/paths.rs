//! Paths as texts; the disk is not looked at.

use std::path::{Path, PathBuf};

/// `below` in `folder`; joining nothing would add a slash.
#[must_use]
pub fn join(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_owned() } else { folder.join(below) }
}

/// Where a path is once `from`, which it is or lies in, has become `to`; none of another path.
#[must_use]
pub fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    path.strip_prefix(from).ok().map(|below| join(to, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_moves_with_its_folder() {
        let to = |path: &str| moved(Path::new(path), Path::new("/w/a"), Path::new("/w/b"));
        assert_eq!(to("/w/a").map(PathBuf::into_os_string), Some("/w/b".into()));
        assert_eq!(to("/w/a/c/d"), Some("/w/b/c/d".into()));
        assert_eq!(to("/w/ab"), None);
    }
}
