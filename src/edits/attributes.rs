//! Whether a file can be changed without losing what it is besides its content.

use std::path::Path;

use super::refusal::{Refusal, RefusalCode};
use crate::sys::files;

/// May this file be moved or edited? A read-only one may not, whoever asks: its mode says that it is not to be changed.
///
/// # Errors
/// When not.
pub(super) fn writable(path: &Path) -> Result<(), Refusal> {
    let metadata = path.symlink_metadata().map_err(|error| Refusal::failed(path, "look at it", &error))?;
    if metadata.is_symlink() || (!metadata.permissions().readonly() && files::is_writable(path)) {
        return Ok(());
    }
    Err(Refusal::new(RefusalCode::ReadOnly, "it is read-only", "make it writable first if it is to be changed")
        .at(path))
}

/// May another file take this one's place?
///
/// # Errors
/// When it is read-only, or the other names of a file that has several would keep the old content.
pub(super) fn replaceable(path: &Path) -> Result<(), Refusal> {
    writable(path)?;
    let metadata = path.symlink_metadata().map_err(|error| Refusal::failed(path, "look at it", &error))?;
    if files::names(&metadata) > 1 && metadata.is_file() {
        return Err(Refusal::refused(path, "it has several names (hard links), which would come apart"));
    }
    Ok(())
}
