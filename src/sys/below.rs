//! Files below folders that are held by handle: reached part by part, following no link, so that nothing that is swapped
//! meanwhile leads outside. Each step that writes is one call, and can be made to fail.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsExt, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

mod attributes;
#[cfg(test)]
mod tests;

pub use attributes::Attributes;

/// Asked before each step that writes; an error takes the step's place ([`io::ErrorKind::Unsupported`] that of a step
/// which not every file system knows).
#[derive(Clone, Default)]
pub struct Hook(Option<Arc<Asked>>);

type Asked = dyn Fn(&'static str) -> io::Result<()> + Send + Sync;

impl Hook {
    /// One that is asked.
    pub fn new(asked: impl Fn(&'static str) -> io::Result<()> + Send + Sync + 'static) -> Hook {
        Hook(Some(Arc::new(asked)))
    }

    fn ask(&self, step: &'static str) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |asked| asked(step))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hook(asked)" } else { "Hook" })
    }
}

/// What a path stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    File,
    Folder,
    Link,
    /// A pipe, a device, a socket.
    Special,
}

/// A thing that was found, and what tells it from another of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub what: What,
    pub dev: u64,
    pub ino: u64,
    pub len: u64,
    /// Nanoseconds; renaming leaves it.
    pub mtime: i128,
    /// How many names (hard links) it has.
    pub names: u64,
    pub readonly: bool,
}

impl Found {
    fn new(metadata: &Metadata) -> Found {
        let kind = metadata.file_type();
        let mtime = metadata.modified().ok().and_then(|at| at.into_std().duration_since(std::time::UNIX_EPOCH).ok());
        Found {
            what: if kind.is_symlink() {
                What::Link
            } else if kind.is_dir() {
                What::Folder
            } else if kind.is_file() {
                What::File
            } else {
                What::Special
            },
            dev: MetadataExt::dev(metadata),
            ino: MetadataExt::ino(metadata),
            len: metadata.len(),
            mtime: mtime.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)),
            names: MetadataExt::nlink(metadata),
            readonly: metadata.permissions().readonly(),
        }
    }

    /// The same thing with the same content, as far as can be told without reading it.
    #[must_use]
    pub fn is(&self, other: &Found) -> bool {
        (self.what, self.dev, self.ino, self.len, self.mtime)
            == (other.what, other.dev, other.ino, other.len, other.mtime)
    }
}

/// Folders held by handle. All paths are absolute and below one of them.
#[derive(Debug)]
pub struct Below {
    tops: Vec<(PathBuf, Dir)>,
    hook: Hook,
}

impl Below {
    /// Opens the folders, which must be canonical: one that is a link by now is an error.
    ///
    /// # Errors
    /// As opening a folder.
    pub fn open(tops: impl IntoIterator<Item = PathBuf>, hook: Hook) -> io::Result<Below> {
        let open = |path: PathBuf| {
            if path.canonicalize()? != path {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{} has become a link", path.display()),
                ));
            }
            let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
            Ok((path, dir))
        };
        Ok(Below { tops: tops.into_iter().map(open).collect::<io::Result<_>>()?, hook })
    }

    /// The folder that holds `path`, and its name in there.
    fn holder<'p>(&self, path: &'p Path) -> io::Result<(Dir, &'p OsStr)> {
        let outside = || io::Error::new(io::ErrorKind::PermissionDenied, "outside of the folders held");
        let held = self.tops.iter().filter(|(top, _)| path.starts_with(top));
        let (top, dir) = held.max_by_key(|(top, _)| top.as_os_str().len()).ok_or_else(outside)?;
        let name = path.file_name().filter(|_| path != top).ok_or_else(outside)?;
        let between = path.strip_prefix(top).ok().and_then(Path::parent).ok_or_else(outside)?;
        let mut at = dir.try_clone()?;
        for part in between.components() {
            let Component::Normal(part) = part else { return Err(outside()) };
            at = at.open_dir_nofollow(part)?;
        }
        Ok((at, name))
    }

    /// What is there; links are not followed.
    ///
    /// # Errors
    /// As `lstat`, but for there being nothing.
    pub fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        let looked = self.holder(path).and_then(|(dir, name)| dir.symlink_metadata(name));
        absent(looked.map(|metadata| Found::new(&metadata)))
    }

    /// Opens a file for reading, never waiting for a pipe's other end.
    ///
    /// # Errors
    /// As opening a file; a link is an error.
    pub fn read(&self, path: &Path) -> io::Result<(File, Found)> {
        let (dir, name) = self.holder(path)?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        let file = dir.open_with(name, &options)?;
        let found = Found::new(&file.metadata()?);
        Ok((file.into_std(), found))
    }

    /// Where a link points, as it stands there.
    ///
    /// # Errors
    /// As `readlink`.
    pub fn link(&self, path: &Path) -> io::Result<PathBuf> {
        let (dir, name) = self.holder(path)?;
        dir.read_link_contents(name)
    }

    /// The names in a folder.
    ///
    /// # Errors
    /// As listing a folder.
    pub fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.folder(path)?.entries()?.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// Owner, mode and extended attributes.
    ///
    /// # Errors
    /// As reading them.
    pub fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        match self.look(path)?.map(|found| found.what) {
            Some(What::Folder) => Attributes::of(&readable(&self.folder(path)?)?),
            _ => Attributes::of(&self.read(path)?.0),
        }
    }

    fn folder(&self, path: &Path) -> io::Result<Dir> {
        if let Some((_, dir)) = self.tops.iter().find(|(top, _)| top == path) {
            return dir.try_clone();
        }
        let (dir, name) = self.holder(path)?;
        dir.open_dir_nofollow(name)
    }

    /// Makes a file that was not there.
    ///
    /// # Errors
    /// As `open` with `O_EXCL`.
    pub fn create(&self, path: &Path, private: bool) -> io::Result<File> {
        self.hook.ask("create")?;
        let (dir, name) = self.holder(path)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        if private {
            OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = private;
        Ok(dir.open_with(name, &options)?.into_std())
    }

    /// Makes a link that was not there.
    ///
    /// # Errors
    /// As `symlink`.
    pub fn create_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        self.hook.ask("link")?;
        let (dir, name) = self.holder(path)?;
        #[cfg(unix)]
        return dir.symlink_contents(target, name);
        #[cfg(not(unix))]
        return dir.symlink(target, name);
    }

    /// Writes into a file that [`Below::create`] made.
    ///
    /// # Errors
    /// As writing.
    pub fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.hook.ask("write")?;
        file.write_all(bytes)
    }

    /// Gives a file that [`Below::create`] made owner, mode and extended attributes.
    ///
    /// # Errors
    /// When any of them cannot be given.
    pub fn set(&self, file: &File, attributes: &Attributes) -> io::Result<()> {
        self.hook.ask("attributes")?;
        attributes.give(file)
    }

    /// Has the disk hold what a file holds.
    ///
    /// # Errors
    /// As `fsync`.
    pub fn sync(&self, path: &Path) -> io::Result<()> {
        self.hook.ask("sync")?;
        self.read(path)?.0.sync_all()
    }

    /// Has the disk hold the names in a folder.
    ///
    /// # Errors
    /// As `fsync`.
    pub fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.hook.ask("sync folder")?;
        #[cfg(unix)]
        return readable(&self.folder(path)?)?.sync_all();
        #[cfg(not(unix))]
        self.folder(path).map(drop)
    }

    /// Renames to a name that is not taken.
    ///
    /// # Errors
    /// As `rename`; [`io::ErrorKind::AlreadyExists`] where it is taken.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.hook.ask("rename")?;
        let (from_dir, from_name) = self.holder(from)?;
        let (to_dir, to_name) = self.holder(to)?;
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let renamed = renameat_with(&from_dir, from_name, &to_dir, to_name, RenameFlags::NOREPLACE);
            if !renamed.is_err_and(unsupported) {
                return Ok(renamed?);
            }
        }
        // Between the look and the renaming somebody could take the name: file systems that cannot tell are rare.
        if absent(to_dir.symlink_metadata(to_name))?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        from_dir.rename(from_name, &to_dir, to_name)
    }

    /// Renames to a name that may be taken: what has it is gone then.
    ///
    /// # Errors
    /// As `rename`.
    pub fn supplant(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.hook.ask("supplant")?;
        let (from_dir, from_name) = self.holder(from)?;
        let (to_dir, to_name) = self.holder(to)?;
        from_dir.rename(from_name, &to_dir, to_name)
    }

    /// Has two names change places in one step; `false` where the file system cannot.
    ///
    /// # Errors
    /// As `rename`.
    pub fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        match self.hook.ask("exchange") {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(false),
            asked => asked?,
        }
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let (one_dir, one_name) = self.holder(one)?;
            let (other_dir, other_name) = self.holder(other)?;
            let exchanged = renameat_with(&one_dir, one_name, &other_dir, other_name, RenameFlags::EXCHANGE);
            if exchanged.is_err_and(unsupported) {
                return Ok(false);
            }
            exchanged?;
            Ok(true)
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        Ok(false)
    }

    /// Removes a file or a link; that there is none is fine.
    ///
    /// # Errors
    /// As `unlink`.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        self.hook.ask("remove")?;
        absent(self.holder(path).and_then(|(dir, name)| dir.remove_file_or_symlink(name))).map(drop)
    }

    /// Makes a folder that was not there. One that cannot have its attributes is not left there.
    ///
    /// # Errors
    /// As `mkdir`, and when any of the attributes cannot be given.
    pub fn make_folder(&self, path: &Path, attributes: Option<&Attributes>) -> io::Result<()> {
        self.hook.ask("make folder")?;
        let (dir, name) = self.holder(path)?;
        let Some(attributes) = attributes else { return dir.create_dir(name) };
        // Until it has its own mode nobody else enters it; and it can be told from one that has it.
        #[cfg(unix)]
        dir.create_dir_with(name, cap_std::fs::DirBuilderExt::mode(&mut cap_std::fs::DirBuilder::new(), 0o700))?;
        #[cfg(not(unix))]
        dir.create_dir(name)?;
        self.give(path, attributes).inspect_err(|_| drop(self.remove_folder(path)))
    }

    /// Gives a folder the attributes that whoever was killed in [`Below::make_folder`] could not give.
    ///
    /// # Errors
    /// When any of them cannot be given.
    pub fn complete_folder(&self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        let now = self.attributes(path)?;
        if now.mode & 0o777 == 0o700 && now != *attributes { self.give(path, attributes) } else { Ok(()) }
    }

    fn give(&self, folder: &Path, attributes: &Attributes) -> io::Result<()> {
        self.hook.ask("attributes")?;
        attributes.give(&readable(&self.folder(folder)?)?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// As `rmdir`.
    pub fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.hook.ask("remove folder")?;
        let (dir, name) = self.holder(path)?;
        dir.remove_dir(name)
    }
}

/// Folders are held by handles that serve for looking up names only.
fn readable(dir: &Dir) -> io::Result<File> {
    Ok(dir.open(".")?.into_std())
}

/// What file systems say that do not know a flag of `renameat2`.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&error)
}

/// That nothing is there, or no folder that could hold it, is no error.
fn absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
