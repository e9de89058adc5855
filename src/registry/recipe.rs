//! How a server is installed: the commands of its package managers, all inside one folder.

use std::path::{Path, PathBuf};

use super::definition::{Install, Packages};

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Npm,
    Pip,
    Cargo,
    Go,
}

/// Pinned packages: of one package manager, or of several where one alone does not have all that the server runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    manager: Manager,
    packages: Vec<String>,
}

/// A command to run: the first of `programs` that is there, with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Bare names to look for, or one absolute path that an earlier step makes.
    pub programs: Vec<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// What installing into a folder takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub folder: PathBuf,
    pub steps: Vec<Step>,
}

const SCRIPTS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

impl Manager {
    fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::Cargo => "cargo",
            Self::Go => "go",
        }
    }

    /// The program that has to be there already; any of these.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &["npm"],
            Self::Pip => &["python3", "python"],
            Self::Cargo => &["cargo"],
            Self::Go => &["go"],
        }
    }
}

impl Recipe {
    /// The recipe of a definition: none where only a person can install the server.
    pub fn of(install: &Install) -> Option<Self> {
        let of = |manager, packages: &Option<Packages>| {
            packages.as_ref().map(|packages| Part { manager, packages: packages.iter().map(str::to_owned).collect() })
        };
        let parts: Vec<_> = [
            of(Manager::Npm, &install.npm),
            of(Manager::Pip, &install.pip),
            of(Manager::Cargo, &install.cargo),
            of(Manager::Go, &install.go),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// Managers and pins: `npm pyright@1.1.414`. Two recipes with the same text install the same.
    pub fn pin(&self) -> String {
        let pins = self.parts.iter().map(|part| format!("{} {}", part.manager.name(), part.packages.join(" ")));
        pins.collect::<Vec<_>>().join(" + ")
    }

    /// The package managers: `npm`, `npm+pip`.
    pub fn manager(&self) -> String {
        self.parts.iter().map(|part| part.manager.name()).collect::<Vec<_>>().join("+")
    }

    /// The programs that have to be there already: for each package manager, any of these.
    pub fn needs(&self) -> impl Iterator<Item = &'static [&'static str]> {
        self.parts.iter().map(|part| part.manager.needs())
    }

    /// Where programs are below the folder of an installation by `manager`, as [`Self::manager`] writes it.
    pub(super) fn bin_dirs(manager: &str) -> impl Iterator<Item = PathBuf> {
        manager.split('+').map(|manager| match manager {
            "npm" => Path::new("node_modules").join(".bin"),
            "pip" => Path::new("venv").join(SCRIPTS),
            _ => PathBuf::from("bin"),
        })
    }

    /// The commands that install into a folder, which exists and is empty.
    pub fn plan(&self, folder: &Path) -> Plan {
        Plan { folder: folder.to_owned(), steps: self.parts.iter().flat_map(|part| part.steps(folder)).collect() }
    }
}

impl Part {
    fn steps(&self, folder: &Path) -> Vec<Step> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let step = |programs: Vec<String>, fixed: &[&str], packages: &[String]| Step {
            programs,
            args: fixed.iter().map(|&arg| arg.to_owned()).chain(packages.iter().cloned()).collect(),
            env: Vec::new(),
        };
        let needs = || self.manager.needs().iter().map(|&name| name.to_owned()).collect();
        let at = text(folder);
        match self.manager {
            // Scripts of packages are code of strangers that nobody asked to run.
            Manager::Npm => vec![step(
                needs(),
                &["install", "--prefix", &at, "--no-fund", "--no-audit", "--ignore-scripts"],
                &self.packages,
            )],
            Manager::Pip => {
                let venv = folder.join("venv");
                let python = venv.join(SCRIPTS).join(if cfg!(windows) { "python.exe" } else { "python" });
                vec![
                    step(needs(), &["-m", "venv", &text(&venv)], &[]),
                    // The same holds for the build scripts of source packages.
                    step(
                        vec![text(&python)],
                        &[
                            "-m",
                            "pip",
                            "install",
                            "--no-input",
                            "--disable-pip-version-check",
                            "--only-binary",
                            ":all:",
                        ],
                        &self.packages,
                    ),
                ]
            }
            Manager::Cargo => vec![step(needs(), &["install", "--locked", "--root", &at], &self.packages)],
            Manager::Go => self
                .packages
                .iter()
                .map(|package| Step {
                    env: vec![("GOBIN".to_owned(), text(&folder.join("bin")))],
                    ..step(needs(), &["install", package], &[])
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(install: &Install, expected: &expect_test::Expect) {
        let recipe = Recipe::of(install).unwrap();
        let bins: Vec<_> = Recipe::bin_dirs(&recipe.manager()).map(|dir| dir.display().to_string()).collect();
        let mut shown = format!("{} -> {}\n", recipe.pin(), bins.join(", "));
        for step in recipe.plan(Path::new("/data/x/1")).steps {
            for (name, value) in step.env {
                shown += &format!("{name}={value} ");
            }
            shown += &format!("{} {}\n", step.programs.join("|"), step.args.join(" "));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn what_each_manager_runs() {
        let one = |package: &str| Some(Packages::One(package.to_owned()));
        check(
            &Install {
                npm: Some(Packages::Several(vec!["a@1".to_owned(), "@s/b@2".to_owned()])),
                ..Install::default()
            },
            &expect_test::expect![[r"
                npm a@1 @s/b@2 -> node_modules/.bin
                npm install --prefix /data/x/1 --no-fund --no-audit --ignore-scripts a@1 @s/b@2
            "]],
        );
        check(
            &Install { pip: one("ty==0.0.108"), ..Install::default() },
            &expect_test::expect![[r"
                pip ty==0.0.108 -> venv/bin
                python3|python -m venv /data/x/1/venv
                /data/x/1/venv/bin/python -m pip install --no-input --disable-pip-version-check --only-binary :all: ty==0.0.108
            "]],
        );
        check(
            &Install { cargo: one("taplo-cli@0.9.3"), ..Install::default() },
            &expect_test::expect![[r"
                cargo taplo-cli@0.9.3 -> bin
                cargo install --locked --root /data/x/1 taplo-cli@0.9.3
            "]],
        );
        check(
            &Install { go: one("golang.org/x/tools/gopls@v0.20.0"), ..Install::default() },
            &expect_test::expect![[r"
                go golang.org/x/tools/gopls@v0.20.0 -> bin
                GOBIN=/data/x/1/bin go install golang.org/x/tools/gopls@v0.20.0
            "]],
        );
        check(
            &Install { npm: one("a@1"), pip: one("b==2"), ..Install::default() },
            &expect_test::expect![[r"
                npm a@1 + pip b==2 -> node_modules/.bin, venv/bin
                npm install --prefix /data/x/1 --no-fund --no-audit --ignore-scripts a@1
                python3|python -m venv /data/x/1/venv
                /data/x/1/venv/bin/python -m pip install --no-input --disable-pip-version-check --only-binary :all: b==2
            "]],
        );
        assert_eq!(Recipe::of(&Install { hint: Some("apt".to_owned()), ..Install::default() }), None);
    }
}
