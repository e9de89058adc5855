//! How a server is installed: the commands of one package manager, all inside one folder.

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

/// Pinned packages of one package manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
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

impl Recipe {
    /// The recipe of a definition: none where only a person can install the server.
    pub fn of(install: &Install) -> Option<Self> {
        let of = |manager, packages: &Option<Packages>| {
            packages.as_ref().map(|packages| Self { manager, packages: packages.iter().map(str::to_owned).collect() })
        };
        of(Manager::Npm, &install.npm)
            .or_else(|| of(Manager::Pip, &install.pip))
            .or_else(|| of(Manager::Cargo, &install.cargo))
            .or_else(|| of(Manager::Go, &install.go))
    }

    /// Manager and pins: `npm pyright@1.1.414`. Two recipes with the same text install the same.
    pub fn pin(&self) -> String {
        format!("{} {}", self.manager(), self.packages.join(" "))
    }

    pub fn manager(&self) -> &'static str {
        match self.manager {
            Manager::Npm => "npm",
            Manager::Pip => "pip",
            Manager::Cargo => "cargo",
            Manager::Go => "go",
        }
    }

    /// The program that has to be there already; any of these.
    pub fn needs(&self) -> &'static [&'static str] {
        match self.manager {
            Manager::Npm => &["npm"],
            Manager::Pip => &["python3", "python"],
            Manager::Cargo => &["cargo"],
            Manager::Go => &["go"],
        }
    }

    /// Where the server's programs are below the folder of the installation.
    pub(super) fn bin_dir(manager: &str) -> PathBuf {
        match manager {
            "npm" => Path::new("node_modules").join(".bin"),
            "pip" => Path::new("venv").join(SCRIPTS),
            _ => PathBuf::from("bin"),
        }
    }

    /// The commands that install into a folder, which exists and is empty.
    pub fn plan(&self, folder: &Path) -> Plan {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let step = |programs: Vec<String>, fixed: &[&str], packages: &[String]| Step {
            programs,
            args: fixed.iter().map(|&arg| arg.to_owned()).chain(packages.iter().cloned()).collect(),
            env: Vec::new(),
        };
        let needs = || self.needs().iter().map(|&name| name.to_owned()).collect();
        let at = text(folder);
        let steps = match self.manager {
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
        };
        Plan { folder: folder.to_owned(), steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(install: &Install, expected: &expect_test::Expect) {
        let recipe = Recipe::of(install).unwrap();
        let mut shown = format!("{} -> {}\n", recipe.pin(), Recipe::bin_dir(recipe.manager()).display());
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
        assert_eq!(Recipe::of(&Install { hint: Some("apt".to_owned()), ..Install::default() }), None);
    }
}
