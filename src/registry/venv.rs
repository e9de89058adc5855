//! Where a Python project's virtual environment is: a path that is passed on as data, and nothing in it is ever run.

use std::path::{Path, PathBuf};

/// A virtual environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Venv {
    pub(super) path: PathBuf,
    pub(super) site_packages: Option<PathBuf>,
}

impl Venv {
    /// The nearest `.venv` or `venv` from the root up to the workspace folder it lies in, else the one that langport was
    /// started in.
    pub(super) fn of(root: &Path, workspace: &[PathBuf], active: Option<&str>) -> Option<Self> {
        let ceiling = workspace.iter().filter(|top| root.starts_with(top)).min_by_key(|top| top.as_os_str().len());
        let near = root
            .ancestors()
            .take_while(|dir| ceiling.map_or(*dir == root, |top| dir.starts_with(top)))
            .flat_map(|dir| [dir.join(".venv"), dir.join("venv")]);
        let path =
            near.chain(active.map(PathBuf::from)).find(|dir| dir.is_absolute() && dir.join("pyvenv.cfg").is_file())?;
        Some(Self { site_packages: site_packages(&path), path })
    }
}

/// `lib/python3.12/site-packages`: of several the newest.
fn site_packages(venv: &Path) -> Option<PathBuf> {
    let windows = venv.join("Lib").join("site-packages");
    let versioned = std::fs::read_dir(venv.join("lib")).into_iter().flatten().take(100).filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name();
        let (major, minor) = name.to_str()?.strip_prefix("python")?.split_once('.')?;
        // Free-threaded builds are called `python3.13t`.
        let version: (u32, u32) = (major.parse().ok()?, minor.trim_end_matches('t').parse().ok()?);
        Some((version, entry.path().join("site-packages")))
    });
    versioned
        .filter(|(_, path)| path.is_dir())
        .max()
        .map(|(_, path)| path)
        .or_else(|| windows.is_dir().then_some(windows))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own folders")]
mod tests {
    use std::fs;

    use super::*;

    fn venv(path: &Path, pythons: &[&str]) {
        for python in pythons {
            fs::create_dir_all(path.join("lib").join(python).join("site-packages")).unwrap();
        }
        fs::write(path.join("pyvenv.cfg"), "home = /usr/bin").unwrap();
    }

    #[test]
    fn nearest_up_to_the_workspace_then_the_active_one() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().join("repo");
        let root = top.join("api");
        fs::create_dir_all(&root).unwrap();
        venv(&temp.path().join(".venv"), &["python3.11"]);
        let workspace = [top.clone()];
        assert_eq!(Venv::of(&root, &workspace, None), None);

        venv(&temp.path().join("active"), &["python3.11"]);
        let active = temp.path().join("active");
        assert_eq!(Venv::of(&root, &workspace, active.to_str()).unwrap().path, active);

        venv(&top.join("venv"), &["python3.9", "python3.12", "python3.13t", "pythonx"]);
        let found = Venv::of(&root, &workspace, active.to_str()).unwrap();
        assert_eq!(found.path, top.join("venv"));
        assert_eq!(found.site_packages, Some(top.join("venv/lib/python3.13t/site-packages")));

        fs::create_dir_all(root.join(".venv")).unwrap();
        assert_eq!(Venv::of(&root, &workspace, None).unwrap().path, top.join("venv"), "no pyvenv.cfg, no environment");
        venv(&root.join(".venv"), &[]);
        let found = Venv::of(&root, &workspace, None).unwrap();
        assert_eq!((found.path, found.site_packages), (root.join(".venv"), None));
    }
}
