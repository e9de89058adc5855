//! Checkouts of other branches inside the workspace (`git worktree`): their files have the same names and declare the same
//! things, and belong to another state of the project.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::roots::Roots;
use crate::sys::files;

/// Bytes of a `.git` file that are looked at: a word and a path.
const POINTER: u64 = 4_096;

/// The checkout that `path` lies in, where that is a linked one inside a root; none for the files of the root itself, of
/// repositories of their own and of submodules.
#[must_use]
pub fn linked(roots: &Roots, path: &Path) -> Option<PathBuf> {
    let root = &roots.all()[roots.root_of(path)?].path;
    let inside = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root) && *folder != root);
    for folder in inside {
        let git = folder.join(".git");
        let Ok(there) = git.symlink_metadata() else { continue };
        return (there.is_file() && points_into_worktrees(&git)).then(|| folder.to_owned());
    }
    None
}

/// `gitdir: /repository/.git/worktrees/NAME`.
fn points_into_worktrees(git: &Path) -> bool {
    let mut text = Vec::new();
    if files::open(git).and_then(|file| file.take(POINTER).read_to_end(&mut text)).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&text);
    let Some(target) = text.strip_prefix("gitdir:") else { return false };
    Path::new(target.trim()).parent().is_some_and(|parent| parent.ends_with("worktrees"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_checkouts_and_what_is_none() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            files::create_dirs(path.parent().unwrap()).unwrap();
            files::write(&path, text.as_bytes()).unwrap();
        };
        put(".git/HEAD", "");
        put("wt/one/.git", "gitdir: /r/.git/worktrees/one\n");
        put("wt/one/src/own/.git/HEAD", "");
        put("sub/.git", "gitdir: ../.git/modules/sub\n");
        put("odd/.git", "worktrees");
        put("clone/.git/HEAD", "");
        let roots = Roots::new([&root]).unwrap();
        let of = |path: &str| linked(&roots, &root.join(path));
        assert_eq!(of("wt/one/a.py"), Some(root.join("wt/one")));
        assert_eq!(of("wt/one/src/deep/a.py"), Some(root.join("wt/one")));
        for path in ["a.py", "wt/a.py", "sub/a.py", "odd/a.py", "clone/a.py", "wt/one/src/own/a.py"] {
            assert_eq!(of(path), None, "{path}");
        }
        // Who works in one has it as the root.
        let own = Roots::new([&root.join("wt/one")]).unwrap();
        assert_eq!(linked(&own, &root.join("wt/one/a.py")), None);
    }
}
