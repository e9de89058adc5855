//! Why a change is not planned, not made, or not taken back.

use std::path::{Path, PathBuf};

/// What kind of refusal it is; the names are those that an agent sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalCode {
    /// A file is not what the change was computed for, or the change contradicts itself.
    Conflict,
    OutsideWorkspace,
    /// Permission or file mode.
    ReadOnly,
    /// Policy, or a file that cannot be changed without damage.
    Refused,
    TooLarge,
    /// The edit is none: reversed ranges, paths that are no paths.
    Invalid,
    /// The file system said no.
    Failed,
    /// No such plan (any more), or not this caller's.
    Expired,
    NotFound,
    /// The edit changes nothing: for a formatter the best of answers, for a rename a failure.
    Nothing,
}

impl RefusalCode {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::OutsideWorkspace => "outside_workspace",
            Self::ReadOnly => "read_only",
            Self::Refused => "refused",
            Self::TooLarge => "too_large",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Expired => "expired",
            Self::NotFound => "not_found",
            Self::Nothing => "nothing",
        }
    }
}

/// A refusal: its reason, the file it is about, and what to do next. Neither text holds the path: whoever shows it
/// knows how paths are shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {what}{at}; {next}", code = code.name(), at = path.as_ref().map(|path| format!(" ({})", path.display())).unwrap_or_default())]
pub struct Refusal {
    pub code: RefusalCode,
    pub path: Option<PathBuf>,
    /// Where that leads, if it is a link or lies behind one.
    pub leads: Option<PathBuf>,
    /// Other files of which the same is to be said.
    pub also: Box<[PathBuf]>,
    pub what: String,
    pub next: String,
}

impl Refusal {
    pub(super) fn new(code: RefusalCode, what: impl Into<String>, next: &str) -> Refusal {
        Refusal { code, path: None, leads: None, also: Box::default(), what: what.into(), next: next.to_owned() }
    }

    /// The same, about a file.
    pub(super) fn at(self, path: &Path) -> Refusal {
        Refusal { path: Some(path.to_owned()), ..self }
    }

    /// The same, about a file that leads to this one.
    pub(super) fn through(self, path: &Path, target: &Path) -> Refusal {
        Refusal { leads: (path != target).then(|| target.to_owned()), ..self.at(path) }
    }

    pub(super) fn conflict(path: &Path, what: &str) -> Refusal {
        Refusal::new(RefusalCode::Conflict, what, "plan it again").at(path)
    }

    /// The same, where what was to be done is to take a change back. What stands in the way came since: planning anew is no
    /// help, and these files have it.
    pub(super) fn of_undo(self, changed: Vec<PathBuf>) -> Refusal {
        // Where a part could not be brought back, that is what counts.
        let ours = self.code == RefusalCode::Conflict && self.also.is_empty();
        let Some(path) = self.path.clone().filter(|_| ours) else { return self };
        let what = match path.symlink_metadata() {
            Ok(_) => "it is not as the change left it, and taking that back would overwrite what came since",
            Err(_) => "it is gone since the change was made, so that this cannot be taken back whole",
        };
        let also: Box<[PathBuf]> = changed.into_iter().filter(|other| *other != path).collect();
        let what = match also.len() {
            0 => what.to_owned(),
            more => format!("{what}; likewise {more} more of its files"),
        };
        let next = "nothing was taken back: first bring it to where the change left it, then undo again; or mend the \
                    files by other means";
        Refusal { also, ..Refusal::new(RefusalCode::Conflict, what, next).at(&path) }
    }

    pub(super) fn refused(path: &Path, what: impl Into<String>) -> Refusal {
        Refusal::new(RefusalCode::Refused, what, "change that file by other means").at(path)
    }

    pub(super) fn invalid(what: impl Into<String>) -> Refusal {
        Refusal::new(RefusalCode::Invalid, what, "the server's edit is no valid one: make the change by other means")
    }

    pub(super) fn too_large(what: impl Into<String>) -> Refusal {
        Refusal::new(RefusalCode::TooLarge, what, "make a smaller change")
    }

    pub(super) fn failed(path: &Path, doing: &str, error: &std::io::Error) -> Refusal {
        Refusal::new(
            RefusalCode::Failed,
            format!("cannot {doing}: {error}"),
            "nothing was changed; mend that and try again",
        )
        .at(path)
    }
}
