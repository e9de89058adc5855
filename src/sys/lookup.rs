//! From the name of a program to the file that is run. A repository has no say in it: nothing inside a workspace is
//! ever found by its bare name.

use std::path::{Path, PathBuf};

use crate::sys::env;

/// Why there is no such program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Neither bare, nor absolute, nor below `~`.
    #[error("`{0}` is a relative path: give a bare name, an absolute path or one that begins with `~/`")]
    Relative(String),
    /// An absolute path that leads to no program.
    #[error("{path} {why}", path = path.display())]
    Unusable { path: PathBuf, why: &'static str },
    /// It is there, and has nothing behind it.
    #[error("{path} is a shim: {why}", path = path.display())]
    Hollow { path: PathBuf, why: &'static str },
    /// A bare name that no folder has.
    #[error("no program `{name}` in {}{}", list(searched), passed_over(refused, hollow))]
    NotFound {
        name: String,
        searched: Vec<PathBuf>,
        /// Programs of that name that were passed over, because they lie inside a workspace.
        refused: Vec<PathBuf>,
        /// Programs of that name that have nothing behind them, with what they lack.
        hollow: Vec<(PathBuf, &'static str)>,
    },
}

fn list(searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return "the search path, which names no absolute folder".to_owned();
    }
    searched.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn passed_over(refused: &[PathBuf], hollow: &[(PathBuf, &str)]) -> String {
    match (refused.first(), hollow.first()) {
        (Some(path), _) => format!(" (passed over, because it lies inside the workspace: {})", path.display()),
        (None, Some((path, why))) => format!(" (passed over, because {why}: {})", path.display()),
        (None, None) => String::new(),
    }
}

/// Finds a program: an absolute path or one below `~` as it stands, a bare name in the given folders, except where
/// the folder or what it links to lies inside one of the forbidden roots. Links are not resolved in the result:
/// many programs look at the name by which they were called.
///
/// # Errors
/// When there is none; says where it was looked for.
pub fn find_program(name: &str, path_dirs: &[PathBuf], forbidden_roots: &[PathBuf]) -> Result<PathBuf, LookupError> {
    find_whole(name, path_dirs, forbidden_roots, &|_| None)
}

/// The same, without programs that lack something.
///
/// # Errors
/// As there.
pub fn find_whole(
    name: &str,
    path_dirs: &[PathBuf],
    forbidden_roots: &[PathBuf],
    lacking: &dyn Fn(&Path) -> Option<&'static str>,
) -> Result<PathBuf, LookupError> {
    if let Some(rest) = name.strip_prefix("~/") {
        let Some(home) = env::home() else {
            return Err(LookupError::Unusable { path: name.into(), why: "cannot be found: HOME is not set" });
        };
        return usable(home.join(rest), lacking);
    }
    if Path::new(name).is_absolute() {
        return usable(PathBuf::from(name), lacking);
    }
    // `..` and `.` would be folders, and `a/b` would depend on where langport happens to run.
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with("..") || name == "." {
        return Err(LookupError::Relative(name.to_owned()));
    }
    let forbidden: Vec<PathBuf> = forbidden_roots.iter().map(|root| canonical(root)).collect();
    let inside = |path: &Path| forbidden.iter().any(|root| canonical(path).starts_with(root));
    let (mut searched, mut refused, mut hollow) = (Vec::new(), Vec::new(), Vec::new());
    for dir in path_dirs.iter().filter(|dir| dir.is_absolute()) {
        if searched.contains(dir) {
            continue;
        }
        let candidate = dir.join(name);
        if check(&candidate).is_ok() {
            if inside(dir) || inside(&candidate) {
                refused.push(candidate);
            } else if let Some(what) = lacking(&candidate) {
                hollow.push((candidate, what));
            } else {
                return Ok(candidate);
            }
        }
        searched.push(dir.clone());
    }
    Err(LookupError::NotFound { name: name.to_owned(), searched, refused, hollow })
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn usable(path: PathBuf, lacking: &dyn Fn(&Path) -> Option<&'static str>) -> Result<PathBuf, LookupError> {
    match check(&path) {
        Err(why) => Err(LookupError::Unusable { path, why }),
        Ok(()) => match lacking(&path) {
            Some(why) => Err(LookupError::Hollow { path, why }),
            None => Ok(path),
        },
    }
}

fn check(path: &Path) -> Result<(), &'static str> {
    let metadata = path.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => "cannot be reached: permission denied",
        _ => "does not exist",
    })?;
    if !metadata.is_file() {
        return Err("is not a file");
    }
    #[cfg(unix)]
    if rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
        return Err("is not executable");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::sys::files;

    struct Fixture {
        _tmp: tempfile::TempDir,
        base: PathBuf,
    }

    impl Fixture {
        fn new(programs: &[&str]) -> Fixture {
            let tmp = tempfile::tempdir().unwrap();
            let base = tmp.path().canonicalize().unwrap();
            for program in programs {
                let path = base.join(program);
                files::create_dirs(path.parent().unwrap()).unwrap();
                files::write(&path, b"#!/bin/sh\n").unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
            Fixture { _tmp: tmp, base }
        }

        fn check(&self, name: &str, path: &[&str], expected: &Expect) {
            let dirs: Vec<PathBuf> = path
                .iter()
                .map(|dir| dir.strip_prefix('=').map_or_else(|| self.base.join(dir), PathBuf::from))
                .collect();
            let name = name.replace("BASE", self.base.to_str().unwrap());
            let said = match find_program(&name, &dirs, &[self.base.join("ws")]) {
                Ok(path) => path.display().to_string(),
                Err(error) => error.to_string(),
            };
            expected.assert_eq(&said.replace(self.base.to_str().unwrap(), "BASE"));
        }
    }

    #[test]
    fn the_first_folder_that_has_it() {
        let f = Fixture::new(&["one/tool", "two/tool", "two/other"]);
        f.check("tool", &["one", "two"], &expect!["BASE/one/tool"]);
        f.check("other", &["one", "two"], &expect!["BASE/two/other"]);
        f.check("none", &["one", "two", "one"], &expect!["no program `none` in BASE/one, BASE/two"]);
        f.check("none", &["=.", "="], &expect!["no program `none` in the search path, which names no absolute folder"]);
    }

    #[test]
    fn never_inside_the_workspace() {
        let f = Fixture::new(&["ws/node_modules/.bin/evil", "bin/good"]);
        std::os::unix::fs::symlink(f.base.join("ws/node_modules/.bin/evil"), f.base.join("bin/evil")).unwrap();
        std::os::unix::fs::symlink(f.base.join("ws/node_modules/.bin"), f.base.join("linked")).unwrap();
        std::os::unix::fs::symlink(f.base.join("bin/good"), f.base.join("ws/node_modules/.bin/good")).unwrap();
        f.check("evil", &["ws/node_modules/.bin"], &expect![
            "no program `evil` in BASE/ws/node_modules/.bin (passed over, because it lies inside the workspace: BASE/ws/node_modules/.bin/evil)"
        ]);
        f.check("evil", &["bin", "linked"], &expect![
            "no program `evil` in BASE/bin, BASE/linked (passed over, because it lies inside the workspace: BASE/bin/evil)"
        ]);
        f.check("good", &["ws/node_modules/.bin", "bin"], &expect!["BASE/bin/good"]);
        f.check(
            "./evil",
            &["bin"],
            &expect!["`./evil` is a relative path: give a bare name, an absolute path or one that begins with `~/`"],
        );
    }

    #[test]
    fn absolute_paths_must_be_programs() {
        let f = Fixture::new(&["bin/good", "bin/plain"]);
        std::fs::set_permissions(f.base.join("bin/plain"), std::fs::Permissions::from_mode(0o644)).unwrap();
        f.check("BASE/bin/good", &[], &expect!["BASE/bin/good"]);
        f.check("BASE/bin/plain", &[], &expect!["BASE/bin/plain is not executable"]);
        f.check("BASE/bin", &[], &expect!["BASE/bin is not a file"]);
        f.check("BASE/none", &[], &expect!["BASE/none does not exist"]);
    }
}
