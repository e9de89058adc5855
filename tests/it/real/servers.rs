//! Puts the servers in place: once per run, through langport's own `install`, in a folder below `target` that stays.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use super::super::support::Workspace;

/// What a test with a real server may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Pyright,
    Ty,
    Ruff,
    Typescript7,
    /// Flask and what it depends on, in a virtual environment.
    Flask,
    /// The MCP inspector's command line, with a Node.js that it accepts.
    Inspector,
    /// The sandbox of that name, which langport does not install.
    Bwrap,
}

/// Everything that Flask's modules import, at the versions that the expectations were taken from.
const FLASK: [&str; 7] = [
    "flask==3.1.3",
    "werkzeug==3.1.9",
    "click==8.5.1",
    "jinja2==3.1.6",
    "markupsafe==3.0.4",
    "itsdangerous==2.2.0",
    "blinker==1.9.0",
];
const INSPECTOR: [&str; 2] = ["node@22.23.3", "@modelcontextprotocol/inspector@2.12.0"];

/// Whether what cannot be run is a failure.
pub(super) fn all_must_run() -> bool {
    std::env::var("LANGPORT_TEST_SERVERS").is_ok_and(|value| value == "all")
}

/// Where servers and projects of the registries are kept between runs.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder").join("test-servers")
}

impl Need {
    pub(super) const ALL: [Self; 7] =
        [Self::Pyright, Self::Ty, Self::Ruff, Self::Typescript7, Self::Flask, Self::Inspector, Self::Bwrap];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pyright => "pyright",
            Self::Ty => "ty",
            Self::Ruff => "ruff",
            Self::Typescript7 => "typescript7",
            Self::Flask => "flask",
            Self::Inspector => "inspector",
            Self::Bwrap => "bubblewrap",
        }
    }

    /// The package manager that this machine lacks for it.
    pub(super) fn missing(self) -> Option<&'static str> {
        static NPM: OnceLock<bool> = OnceLock::new();
        static PYTHON: OnceLock<bool> = OnceLock::new();
        match self {
            Self::Bwrap => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let there = std::env::split_paths(&path).any(|folder| folder.join("bwrap").is_file());
                (!there).then_some("bubblewrap is missing")
            }
            Self::Pyright | Self::Typescript7 | Self::Inspector => {
                let there = NPM.get_or_init(|| {
                    let path = std::env::var_os("PATH").unwrap_or_default();
                    std::env::split_paths(&path).any(|folder| folder.join("npm").is_file())
                });
                (!there).then_some("npm is missing")
            }
            Self::Ty | Self::Ruff | Self::Flask => {
                let works =
                    PYTHON.get_or_init(|| works(Command::new("python3").args(["-c", "import ensurepip, venv"])));
                (!works).then_some("python3 with venv and pip is missing")
            }
        }
    }

    /// Installs it, unless it is there. Tests that need the same thing at the same time wait for the first.
    pub(super) fn put_in_place(self) {
        static DONE: [OnceLock<Result<(), String>>; 7] = [const { OnceLock::new() }; 7];
        let done = DONE[self as usize].get_or_init(|| {
            fs::create_dir_all(folder()).map_err(|error| format!("{}: {error}", folder().display()))?;
            // Another run may be at it.
            let lock =
                File::create(folder().join(format!("{}.lock", self.name()))).map_err(|error| error.to_string())?;
            lock.lock().map_err(|error| error.to_string())?;
            match self {
                Self::Bwrap => Ok(()),
                Self::Pyright | Self::Ty | Self::Ruff | Self::Typescript7 => langport_install(self.name()),
                Self::Flask => once(&flask(), |folder| {
                    run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
                    let mut pip = Command::new(folder.join("venv/bin/python"));
                    pip.args([
                        "-m",
                        "pip",
                        "install",
                        "--no-input",
                        "--disable-pip-version-check",
                        "--only-binary",
                        ":all:",
                    ]);
                    run(pip.args(FLASK))
                }),
                Self::Inspector => once(&inspector(), |folder| {
                    let mut npm = Command::new("npm");
                    npm.args(["install", "--no-fund", "--no-audit", "--ignore-scripts"])
                        .args(INSPECTOR)
                        .arg("--prefix")
                        .arg(folder);
                    run(npm.current_dir(folder))?;
                    // This package fetches its program in a script.
                    run(Command::new("npm").args(["rebuild", "node", "--prefix"]).arg(folder).current_dir(folder))
                }),
            }
        });
        if let Err(error) = done {
            panic!("{} could not be put in place: {error}", self.name());
        }
    }
}

pub(super) fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or_else(|| format!("{command:?} ended with {}\n{said}", output.status))
}

/// The product's own way.
fn langport_install(name: &str) -> Result<(), String> {
    let none = folder().join("none");
    let mut langport = Command::new(env!("CARGO_BIN_EXE_langport"));
    langport.args(["install", name, "--yes"]).current_dir(folder()).env("LANGPORT_DATA_DIR", folder());
    run(langport.env("LANGPORT_CONFIG_DIR", &none).env("LANGPORT_STATE_DIR", &none))
}

/// Fills a folder, whole or not at all.
pub(super) fn once(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    let whole = folder.join("whole");
    if whole.exists() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    fill(folder)?;
    fs::write(whole, "").map_err(|error| error.to_string())
}

fn flask() -> PathBuf {
    folder().join("flask-3.1.3")
}

/// The virtual environment with Flask's dependencies.
pub(super) fn flask_venv() -> PathBuf {
    flask().join("venv")
}

/// Where the inspector and its Node.js are.
pub(super) fn inspector() -> PathBuf {
    folder().join("inspector-2.12.0")
}

/// The example project, as it is in the repository.
pub(super) fn shop() -> Workspace {
    let workspace = Workspace::new("");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop"), workspace.root());
    workspace
}

/// Flask's sources as a project of its own, with its dependencies in `.venv`.
pub(super) fn flask_project() -> Workspace {
    // The versions decide what a type checker finds.
    let workspace = Workspace::new(
        "//- pyproject.toml\n[project]\nname = \"flask\"\nversion = \"3.1.3\"\nrequires-python = \">=3.11\"\n[tool.pyright]\npythonVersion = \"3.11\"\n",
    );
    let lib =
        fs::read_dir(flask_venv().join("lib")).expect("a virtual environment").flatten().next().expect("its Python");
    copy(&lib.path().join("site-packages/flask"), &workspace.path("src/flask"));
    std::os::unix::fs::symlink(flask_venv(), workspace.path(".venv")).expect("a link");
    workspace
}

/// Copies a folder with all that is in it.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true if entry.file_name() == "__pycache__" => {}
            true => copy(&path, &target),
            false => {
                fs::copy(&path, &target).expect("a copied file");
            }
        }
    }
}
