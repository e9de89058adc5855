//! Where langport keeps what: configuration, state, data, and what an administrator decrees.

use std::path::{Path, PathBuf};

use crate::sys::env::Env;

/// The four folders. None of them need exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// Settings and definitions of the user.
    pub config: PathBuf,
    /// Logs, caches, journals.
    pub state: PathBuf,
    /// Installed servers.
    pub data: PathBuf,
    /// Managed configuration. No variable moves it: it binds the user too.
    pub managed: PathBuf,
}

/// Neither a home folder nor the variables that do without one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no place for langport's {what}: set HOME, {xdg} or {own} to an absolute path")]
pub struct NoPlace {
    what: &'static str,
    xdg: &'static str,
    own: &'static str,
}

impl Dirs {
    /// From `LANGPORT_*_DIR`, else the XDG variables, else the home folder.
    ///
    /// # Errors
    /// When a folder can be derived from none of the three.
    pub fn from_env(env: &Env) -> Result<Dirs, NoPlace> {
        let place = |what, own: &'static str, xdg: &'static str, below_home: &str| {
            // An empty variable counts as unset, and XDG wants relative ones ignored.
            let own_dir = env.get(own).filter(|v| !v.is_empty()).and_then(|v| std::path::absolute(v).ok());
            let absolute = |name| env.get(name).map(Path::new).filter(|p| p.is_absolute());
            own_dir
                .or_else(|| absolute(xdg).map(|p| p.join("langport")))
                .or_else(|| absolute("HOME").map(|p| p.join(below_home).join("langport")))
                .ok_or(NoPlace { what, xdg, own })
        };
        Ok(Dirs {
            config: place("configuration", "LANGPORT_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")?,
            state: place("state", "LANGPORT_STATE_DIR", "XDG_STATE_HOME", ".local/state")?,
            data: place("data", "LANGPORT_DATA_DIR", "XDG_DATA_HOME", ".local/share")?,
            managed: PathBuf::from("/etc/langport"),
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(env: &[(&str, &str)], expected: &Expect) {
        let said = match Dirs::from_env(&env.iter().copied().collect()) {
            Ok(d) => format!("{} {} {}", d.config.display(), d.state.display(), d.data.display()),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&said);
    }

    #[test]
    fn home_xdg_and_own_variables() {
        check(&[("HOME", "/h")], &expect!["/h/.config/langport /h/.local/state/langport /h/.local/share/langport"]);
        check(
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "relative"), ("LANGPORT_DATA_DIR", "/d")],
            &expect!["/c/langport /h/.local/state/langport /d"],
        );
        check(
            &[("HOME", "/h"), ("LANGPORT_CONFIG_DIR", "")],
            &expect!["/h/.config/langport /h/.local/state/langport /h/.local/share/langport"],
        );
    }

    #[test]
    fn no_home() {
        check(
            &[],
            &expect![
                "no place for langport's configuration: set HOME, XDG_CONFIG_HOME or LANGPORT_CONFIG_DIR to an absolute path"
            ],
        );
        check(
            &[("LANGPORT_CONFIG_DIR", "/c"), ("LANGPORT_STATE_DIR", "/s"), ("LANGPORT_DATA_DIR", "/d")],
            &expect!["/c /s /d"],
        );
    }
}
