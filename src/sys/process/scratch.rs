//! A folder for temporary files of each server's own. Servers that are killed leave theirs behind (pyright), and some
//! meet others of the same user by a socket in the common one (biome).

use std::path::{Path, PathBuf};

use crate::sys::files::TempDir;

/// Variables that name the folder.
const NAMES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];
/// Those of the user's folders that would not be missed.
const CACHES: [&str; 2] = ["XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];
/// A socket's path has at most 107 bytes, and servers put names of 40 and more behind this.
const LONGEST: usize = 48;

/// Makes a folder where the environment says that temporary files lie, and makes the environment say so. `None` where
/// that is impossible: the server then has the common folder, as any other program.
pub(super) fn create(env: &mut Vec<(String, String)>, caches: bool) -> Option<TempDir> {
    let said = env.iter().find(|(name, _)| NAMES.contains(&name.as_str())).map(|(_, folder)| PathBuf::from(folder));
    let common = Path::new("/tmp");
    let parent = said.filter(|folder| folder.is_absolute()).unwrap_or_else(|| common.to_owned());
    let parent = if parent.as_os_str().len() > LONGEST && common.is_dir() { common } else { &parent };
    let folder = match TempDir::create(parent, "langport-") {
        Ok(folder) => folder,
        Err(error) => {
            tracing::warn!(parent = %parent.display(), %error, "no folder of its own for a server's temporary files");
            return None;
        }
    };
    let path = folder.path().to_str()?.to_owned();
    let names = || NAMES.iter().chain(CACHES.iter().filter(|_| caches));
    env.retain(|(name, _)| !names().any(|set| set == name));
    env.extend(names().map(|name| ((*name).to_owned(), path.clone())));
    Some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_what_the_environment_says_and_short_enough_for_a_socket() {
        let tmp = tempfile::tempdir().unwrap();
        let mut env =
            vec![("A".to_owned(), "1".to_owned()), ("TMP".to_owned(), tmp.path().to_str().unwrap().to_owned())];
        let folder = create(&mut env, false).unwrap();
        assert_eq!(folder.path().parent(), Some(tmp.path()));
        let path = folder.path().to_str().unwrap().to_owned();
        assert_eq!(
            env.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<Vec<_>>(),
            [("A", "1"), ("TMPDIR", path.as_str()), ("TMP", path.as_str()), ("TEMP", path.as_str()),]
        );

        let deep = tmp.path().join("x".repeat(60));
        crate::sys::files::create_dirs(&deep).unwrap();
        let mut env = vec![("TMPDIR".to_owned(), deep.to_str().unwrap().to_owned())];
        let folder = create(&mut env, true).unwrap();
        assert_eq!(folder.path().parent(), Some(Path::new("/tmp")));
        assert!(env.contains(&("XDG_CACHE_HOME".to_owned(), folder.path().to_str().unwrap().to_owned())));
        let mut env = vec![("TMPDIR".to_owned(), "/no/such".to_owned())];
        assert!(create(&mut env, false).is_none());
        assert_eq!(env.len(), 1);
    }
}
