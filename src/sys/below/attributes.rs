//! What a file is besides its name and content: owner, mode, extended attributes.

use std::fs::File;
use std::io;

use serde::{Deserialize, Serialize};

/// Owner, mode and extended attributes of a file or folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    pub mode: u32,
    pub owner: u32,
    pub group: u32,
    /// Access lists are among them.
    pub extended: Vec<(Vec<u8>, Vec<u8>)>,
}

#[cfg(unix)]
impl Attributes {
    /// Reads them.
    pub(super) fn of(file: &File) -> io::Result<Attributes> {
        use std::os::unix::fs::MetadataExt;
        let metadata = file.metadata()?;
        Ok(Attributes {
            mode: metadata.mode() & 0o7777,
            owner: metadata.uid(),
            group: metadata.gid(),
            extended: extended(file)?,
        })
    }

    /// Gives them to a file or folder of ours, and takes what it has beyond them. Owner first, since giving away takes
    /// set-user-id bits; the mode last: it says that all of them are given.
    pub(super) fn give(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (self.owner, self.group) {
            let (owner, group) = (rustix::fs::Uid::from_raw(self.owner), rustix::fs::Gid::from_raw(self.group));
            rustix::fs::fchown(file, Some(owner), Some(group))
                .map_err(|error| named("owner and group", &error.into()))?;
        }
        let there = extended(file)?;
        let failed = |name: &[u8], error: rustix::io::Errno| {
            named(&format!("attribute {}", String::from_utf8_lossy(name)), &error.into())
        };
        // Access lists come from the folder above, if it has one for what is made in it.
        for (name, _) in there.iter().filter(|(name, _)| !self.extended.iter().any(|(own, _)| own == name)) {
            // Security modules label new files themselves, and let nobody else.
            if !name.starts_with(b"security.") {
                rustix::fs::fremovexattr(file, &**name).map_err(|error| failed(name, error))?;
            }
        }
        for (name, value) in &self.extended {
            if !there.iter().any(|pair| (&pair.0, &pair.1) == (name, value)) {
                let set = rustix::fs::fsetxattr(file, &**name, value, rustix::fs::XattrFlags::empty());
                set.map_err(|error| failed(name, error))?;
            }
        }
        // After access lists: both say what the group may do, and agree where they were read.
        file.set_permissions(std::fs::Permissions::from_mode(self.mode)).map_err(|error| named("mode", &error))
    }
}

#[cfg(unix)]
fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("its {what} cannot be kept: {error}"))
}

/// More than this nobody attaches to a file.
#[cfg(unix)]
const LONGEST: usize = 1 << 20;

#[cfg(unix)]
fn extended(file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    use rustix::io::Errno;
    let size = match rustix::fs::flistxattr_query(file) {
        Ok(size) => size,
        // File systems without them.
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    if size == 0 {
        return Ok(Vec::new());
    }
    let mut names = vec![0u8; (size + 1024).min(LONGEST)];
    let size = rustix::fs::flistxattr(file, &mut names[..])?;
    names.truncate(size);
    let mut extended = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let size = rustix::fs::fgetxattr_query(file, name)?;
        let mut value = vec![0u8; (size + 1024).min(LONGEST)];
        let size = rustix::fs::fgetxattr(file, name, &mut value[..])?;
        value.truncate(size);
        extended.push((name.to_owned(), value));
    }
    Ok(extended)
}

#[cfg(not(unix))]
impl Attributes {
    /// Reads them.
    pub(super) fn of(file: &File) -> io::Result<Attributes> {
        let mode = u32::from(file.metadata()?.permissions().readonly());
        Ok(Attributes { mode, ..Attributes::default() })
    }

    /// Gives them to a file of ours.
    pub(super) fn give(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}
