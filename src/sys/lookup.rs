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
    #[error("{path} {}", .flaw.words(), path = path.display())]
    Unusable { path: PathBuf, flaw: Flaw },
    /// It is there, and has nothing behind it.
    #[error("{path} is a shim: {why}", path = path.display())]
    Hollow { path: PathBuf, why: &'static str },
    /// A bare name that no folder has.
    #[error("no program `{name}`{}{} in {}", endings(tried), passed_over(refused, hollow), list(searched))]
    NotFound {
        name: String,
        /// The file names that were looked for, where they are others than the name.
        tried: Vec<String>,
        searched: Vec<PathBuf>,
        /// Programs of that name that were passed over, because they lie inside a workspace.
        refused: Vec<PathBuf>,
        /// Programs of that name that have nothing behind them, with what they lack.
        hollow: Vec<(PathBuf, &'static str)>,
    },
}

/// What keeps a path from being one of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    Missing,
    Dangling,
    Unreachable,
    Folder,
    Special,
    Unexecutable,
    Endings,
    Homeless,
}

impl Flaw {
    /// Whether there is something at that path, so that installing a program is no help.
    #[must_use]
    pub fn is_there(self) -> bool {
        !matches!(self, Self::Missing | Self::Endings | Self::Homeless)
    }

    /// What is to be said of the path.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "does not exist",
            Self::Dangling => "is a link that leads nowhere",
            Self::Unreachable => "cannot be reached: permission denied",
            Self::Folder => "is a folder, not a program",
            Self::Special => "is no regular file",
            Self::Unexecutable => "may not be executed: it is not marked as a program, or not for this user",
            Self::Endings => "has none of the endings that programs have",
            Self::Homeless => "cannot be found: HOME is not set",
        }
    }

    /// What mends it.
    #[must_use]
    pub fn advice(self, path: &Path) -> String {
        let first = match self {
            Self::Unexecutable => format!("run `chmod +x {}`", path.display()),
            Self::Dangling => "let the link lead to the program".to_owned(),
            Self::Unreachable => "let the user that langport runs as into its folder".to_owned(),
            Self::Folder => "name the program in it".to_owned(),
            Self::Missing | Self::Special | Self::Endings | Self::Homeless => "put the program there".to_owned(),
        };
        format!("{first}, or correct `command` in its definition")
    }
}

fn endings(tried: &[String]) -> String {
    if tried.is_empty() { String::new() } else { format!(" (tried {})", tried.join(", ")) }
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

/// The part of such a message that says what was passed over, with a space in front; nothing, where that was nothing.
#[must_use]
pub fn passed_over_in(message: &str) -> &str {
    let part = message.find(" (passed over").map_or("", |at| &message[at..]);
    part.find(") in ").map_or(part, |end| &part[..=end])
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
    find_as(name, path_dirs, forbidden_roots, lacking, pathext().as_deref())
}

/// `PATHEXT`, where the system knows programs by their endings.
fn pathext() -> Option<String> {
    cfg!(windows).then(|| env::var("PATHEXT").unwrap_or_default())
}

/// The endings where `PATHEXT` does not say any.
const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// The file names that a program may have. Where endings make the program, npm's extensionless script for a Unix shell,
/// which lies beside its `.cmd`, is none; what has one of the endings is taken as it is. The standard library runs `.bat`
/// and `.cmd` through `cmd /c`, and refuses arguments that cannot be quoted safely there.
fn file_names(name: &str, pathext: Option<&str>) -> Vec<String> {
    let Some(pathext) = pathext else { return vec![name.to_owned()] };
    let pathext = if pathext.trim_matches([';', ' ']).is_empty() { ENDINGS } else { pathext };
    let endings: Vec<&str> = pathext.split(';').map(str::trim).filter(|ending| ending.starts_with('.')).collect();
    let lower = name.to_lowercase();
    if endings.iter().any(|ending| lower.ends_with(&ending.to_lowercase())) {
        return vec![name.to_owned()];
    }
    endings.iter().map(|ending| format!("{name}{}", ending.to_lowercase())).collect()
}

fn find_as(
    name: &str,
    path_dirs: &[PathBuf],
    forbidden_roots: &[PathBuf],
    lacking: &dyn Fn(&Path) -> Option<&'static str>,
    pathext: Option<&str>,
) -> Result<PathBuf, LookupError> {
    if let Some(rest) = name.strip_prefix("~/") {
        let Some(home) = env::home() else {
            return Err(LookupError::Unusable { path: name.into(), flaw: Flaw::Homeless });
        };
        return usable(home.join(rest), lacking, pathext);
    }
    if Path::new(name).is_absolute() {
        return usable(PathBuf::from(name), lacking, pathext);
    }
    // `..` and `.` would be folders, and `a/b` would depend on where langport happens to run.
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with("..") || name == "." {
        return Err(LookupError::Relative(name.to_owned()));
    }
    let forbidden: Vec<PathBuf> = forbidden_roots.iter().map(|root| canonical(root)).collect();
    let inside = |path: &Path| forbidden.iter().any(|root| canonical(path).starts_with(root));
    let names = file_names(name, pathext);
    let (mut searched, mut refused, mut hollow) = (Vec::new(), Vec::new(), Vec::new());
    for dir in path_dirs.iter().filter(|dir| dir.is_absolute()) {
        if searched.contains(dir) {
            continue;
        }
        for candidate in names.iter().map(|name| dir.join(name)) {
            match check(&candidate) {
                Ok(()) if inside(dir) || inside(&candidate) => refused.push(candidate),
                Ok(()) => match lacking(&candidate) {
                    Some(what) => hollow.push((candidate, what)),
                    None => return Ok(candidate),
                },
                // It is what was meant: a shell would say so, too.
                Err(Flaw::Unexecutable) if !inside(dir) => hollow.push((candidate, "it is not executable")),
                Err(_) => {}
            }
        }
        searched.push(dir.clone());
    }
    let tried = if names == [name] { Vec::new() } else { names };
    Err(LookupError::NotFound { name: name.to_owned(), tried, searched, refused, hollow })
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn usable(
    path: PathBuf,
    lacking: &dyn Fn(&Path) -> Option<&'static str>,
    pathext: Option<&str>,
) -> Result<PathBuf, LookupError> {
    let path = match path.to_str().map(|text| file_names(text, pathext)) {
        Some(names) if names.len() > 1 => match names.iter().map(PathBuf::from).find(|path| check(path).is_ok()) {
            Some(found) => found,
            None => return Err(LookupError::Unusable { path, flaw: Flaw::Endings }),
        },
        _ => path,
    };
    match check(&path) {
        Err(flaw) => Err(LookupError::Unusable { path, flaw }),
        Ok(()) => match lacking(&path) {
            Some(why) => Err(LookupError::Hollow { path, why }),
            None => Ok(path),
        },
    }
}

fn check(path: &Path) -> Result<(), Flaw> {
    let metadata = path.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => Flaw::Unreachable,
        _ if path.is_symlink() => Flaw::Dangling,
        _ => Flaw::Missing,
    })?;
    if metadata.is_dir() {
        return Err(Flaw::Folder);
    }
    if !metadata.is_file() {
        return Err(Flaw::Special);
    }
    #[cfg(unix)]
    if rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
        return Err(Flaw::Unexecutable);
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
            "no program `evil` (passed over, because it lies inside the workspace: BASE/ws/node_modules/.bin/evil) in BASE/ws/node_modules/.bin"
        ]);
        f.check("evil", &["bin", "linked"], &expect![
            "no program `evil` (passed over, because it lies inside the workspace: BASE/bin/evil) in BASE/bin, BASE/linked"
        ]);
        f.check("good", &["ws/node_modules/.bin", "bin"], &expect!["BASE/bin/good"]);
        f.check(
            "./evil",
            &["bin"],
            &expect!["`./evil` is a relative path: give a bare name, an absolute path or one that begins with `~/`"],
        );
    }

    #[test]
    fn what_was_passed_over_is_taken_out_of_a_message() {
        assert_eq!(
            passed_over_in("no program `x` (passed over, because y: /z) in /a"),
            " (passed over, because y: /z)"
        );
        assert_eq!(passed_over_in("no program `x` in /a"), "");
    }

    #[test]
    fn lif_10_what_is_there_and_cannot_be_run_is_named() {
        let f = Fixture::new(&["one/tool", "two/tool"]);
        std::fs::set_permissions(f.base.join("one/tool"), std::fs::Permissions::from_mode(0o644)).unwrap();
        f.check("tool", &["one", "two"], &expect!["BASE/two/tool"]);
        f.check(
            "tool",
            &["one"],
            &expect!["no program `tool` (passed over, because it is not executable: BASE/one/tool) in BASE/one"],
        );
    }

    /// As on Windows; the files are marked as programs, since they are looked for on this system.
    #[test]
    fn lif_10_programs_have_endings() {
        let f = Fixture::new(&[
            "npm/srv",
            "npm/srv.cmd",
            "sh/srv",
            "sh/srv.ps1",
            "exe/srv.exe",
            "exe/srv.cmd",
            "v/srv-1.2.cmd",
        ]);
        let check = |name: &str, path: &[&str], pathext: &str, expected: &Expect| {
            let dirs: Vec<PathBuf> = path.iter().map(|dir| f.base.join(dir)).collect();
            let name = name.replace("BASE", f.base.to_str().unwrap());
            let said = match find_as(&name, &dirs, &[], &|_| None, Some(pathext)) {
                Ok(path) => path.display().to_string(),
                Err(error) => error.to_string(),
            };
            expected.assert_eq(&said.replace(f.base.to_str().unwrap(), "BASE"));
        };
        let usual = ".COM;.EXE;.BAT;.CMD;.VBS";
        check("srv", &["npm"], usual, &expect!["BASE/npm/srv.cmd"]);
        check("srv", &["exe"], usual, &expect!["BASE/exe/srv.exe"]);
        check("srv", &["exe"], ".CMD;.EXE", &expect!["BASE/exe/srv.cmd"]);
        check("srv", &["sh", "npm"], usual, &expect!["BASE/npm/srv.cmd"]);
        check("srv", &["sh"], "", &expect!["no program `srv` (tried srv.com, srv.exe, srv.bat, srv.cmd) in BASE/sh"]);
        check("srv.CMD", &["npm"], usual, &expect!["no program `srv.CMD` in BASE/npm"]);
        check("srv.cmd", &["npm"], usual, &expect!["BASE/npm/srv.cmd"]);
        check("srv-1.2", &["v"], " ; ", &expect!["BASE/v/srv-1.2.cmd"]);
        check("BASE/npm/srv", &[], usual, &expect!["BASE/npm/srv.cmd"]);
        check("BASE/sh/srv", &[], usual, &expect!["BASE/sh/srv has none of the endings that programs have"]);
    }

    #[test]
    fn absolute_paths_must_be_programs() {
        let f = Fixture::new(&["bin/good", "bin/plain"]);
        std::fs::set_permissions(f.base.join("bin/plain"), std::fs::Permissions::from_mode(0o644)).unwrap();
        f.check("BASE/bin/good", &[], &expect!["BASE/bin/good"]);
        f.check(
            "BASE/bin/plain",
            &[],
            &expect!["BASE/bin/plain may not be executed: it is not marked as a program, or not for this user"],
        );
        f.check("BASE/bin", &[], &expect!["BASE/bin is a folder, not a program"]);
        for (link, target) in [("bin/dangling", "nowhere"), ("bin/circle", "circle"), ("bin/fine", "good")] {
            std::os::unix::fs::symlink(target, f.base.join(link)).unwrap();
        }
        f.check("BASE/bin/dangling", &[], &expect!["BASE/bin/dangling is a link that leads nowhere"]);
        f.check("BASE/bin/circle", &[], &expect!["BASE/bin/circle is a link that leads nowhere"]);
        f.check("BASE/bin/fine", &[], &expect!["BASE/bin/fine"]);
        let _socket = std::os::unix::net::UnixListener::bind(f.base.join("bin/socket")).unwrap();
        f.check("BASE/bin/socket", &[], &expect!["BASE/bin/socket is no regular file"]);
        f.check("BASE/bin/good/x", &[], &expect!["BASE/bin/good/x does not exist"]);
        f.check("BASE/none", &[], &expect!["BASE/none does not exist"]);
    }
}
