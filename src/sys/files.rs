//! Everything that writes to the file system, and what identifies a file in it.
#![expect(clippy::disallowed_methods, reason = "this is where files are written")]

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Identity {
    pub dev: u64,
    pub ino: u64,
    pub size: u64,
    pub mtime_ns: i128,
    pub ctime_ns: i128,
}

/// A file that changed this shortly before it was read may change again without a new time stamp: kernels stamp
/// with the time of their last tick, and some file systems count in coarser steps.
pub(crate) const RACY_NS: i128 = 20_000_000;

impl Identity {
    /// Whether the same identity means the same content as at `read`, when its reading began.
    #[must_use]
    pub fn is_proof(&self, read: i128) -> bool {
        let recent = |stamp: i128| (read - stamp).abs() < RACY_NS;
        // A stamp ahead of our clock comes from another clock: it says nothing about how long ago that was.
        !recent(self.mtime_ns) && !recent(self.ctime_ns) && self.ctime_ns <= read
    }
}

/// The identity that file metadata holds.
#[cfg(unix)]
#[must_use]
pub fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    Identity {
        dev: metadata.dev(),
        ino: metadata.ino(),
        size: metadata.size(),
        mtime_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
        ctime_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
    }
}

/// Which folder goes by a name. Numbers are given out again; when it was made tells then, where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inode {
    dev: u64,
    ino: u64,
    born: Option<std::time::SystemTime>,
}

/// Which folder goes by this name; none if there is no folder.
#[must_use]
pub fn inode(folder: &Path) -> Option<Inode> {
    let metadata = fs::symlink_metadata(folder).ok().filter(Metadata::is_dir)?;
    let Identity { dev, ino, .. } = identity(&metadata);
    Some(Inode { dev, ino, born: metadata.created().ok() })
}

/// How many names (hard links) a file has.
#[must_use]
pub fn names(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    1
}

/// Nanoseconds since the epoch, to compare with [`Identity`].
#[must_use]
pub fn now_ns() -> i128 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX))
}

/// Opens for reading, never waiting for a pipe's other end, as opening a FIFO does.
///
/// # Errors
/// As opening a file.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options.open(path)
}

/// Whether this user may write into a folder, or a file.
#[must_use]
pub fn is_writable(path: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    #[cfg(not(unix))]
    path.metadata().is_ok_and(|metadata| !metadata.permissions().readonly())
}

/// Writes a file in place.
///
/// # Errors
/// As creating and writing a file.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

/// Replaces a file's content whole or not at all, also when the machine stops: written beside, synced, renamed in.
/// The mode of a file that was there stays.
///
/// # Errors
/// As creating, writing or renaming a file; nothing is left beside it then.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} names no file", path.display())));
    };
    let beside = folder.join(format!(".{}.{:016x}.tmp", name.to_string_lossy(), random()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        if let Ok(metadata) = fs::metadata(path) {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        fs::remove_file(&beside).ok();
    }
    written
}

/// Makes a folder and those above it.
///
/// # Errors
/// As `mkdir -p`.
pub fn create_dirs(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Makes a folder (and those above it) that only its owner can enter; one that is there already is closed to others.
///
/// # Errors
/// As `mkdir -p` and `chmod`.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
            }
            Ok(())
        }
        made => made,
    }
}

/// Renames, replacing what is there.
///
/// # Errors
/// As `rename`.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Removes a file; that there is none is fine.
///
/// # Errors
/// As `unlink`.
pub fn remove(path: &Path) -> io::Result<()> {
    none_is_fine(fs::remove_file(path))
}

/// Removes a folder with all in it, following no links; that there is none is fine.
///
/// # Errors
/// As `rm -r`.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    none_is_fine(fs::remove_dir_all(path))
}

fn none_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A private folder of an unguessable name that is gone with its owner.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// Makes one below `parent`, which must exist; its name begins with `prefix`.
    ///
    /// # Errors
    /// As `mkdir`.
    pub fn create(parent: &Path, prefix: &str) -> io::Result<TempDir> {
        let path = parent.join(format!("{prefix}{:016x}", random()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(&path)?;
        Ok(TempDir(path))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps the folder: it is not removed.
    #[must_use]
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            fs::remove_dir_all(&self.0).ok();
        }
    }
}

/// Removes a folder, if there is nothing in it.
pub fn remove_empty_dir(path: &Path) {
    fs::remove_dir(path).ok();
}

/// A lock between processes, held until dropped (or until the process ends, however it ends).
#[derive(Debug)]
pub struct Lock {
    file: File,
    /// Where its file lies, if that goes with the last who holds it.
    passing: Option<PathBuf>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let Some(path) = self.passing.take().filter(|_| cfg!(unix)) else { return };
        // Whoever waits has the file open, sees that it is not there any more, and makes another one.
        if self.file.unlock().is_ok() && self.file.try_lock().is_ok() && is_at(&self.file, &path) {
            fs::remove_file(&path).ok();
        }
    }
}

/// Whether the file goes by this name; where that cannot be told, it has gone by it all the while.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        let there = file.metadata().and_then(|own| Ok((identity(&own), identity(&fs::symlink_metadata(path)?))));
        there.is_ok_and(|(own, there)| (own.dev, own.ino) == (there.dev, there.ino))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Takes the lock that `path` stands for, waiting for whoever has it. The file stays.
///
/// # Errors
/// As creating or locking a file.
pub fn lock(path: &Path) -> io::Result<Lock> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(Lock { file, passing: None })
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    Alone,
    Shared,
}

/// As [`lock`], but waits no longer than this, and the file goes with the last who has the lock; `None` where somebody
/// else has it all the while.
///
/// # Errors
/// As creating or locking a file.
pub fn lock_within(path: &Path, hold: Hold, wait: Duration) -> io::Result<Option<Lock>> {
    let open = || OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let mut file = open()?;
    let until = Instant::now() + wait;
    loop {
        let tried = match hold {
            Hold::Alone => file.try_lock(),
            Hold::Shared => file.try_lock_shared(),
        };
        match tried {
            Ok(()) if is_at(&file, path) => {
                return Ok(Some(Lock { file, passing: Some(path.to_owned()) }));
            }
            // Who had it before has taken the file away.
            Ok(()) => file = open()?,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return Ok(None),
            // There is no waiting for a lock with an end to it.
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Random enough for names that must not be guessed and are created exclusively.
pub(crate) fn random() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn atomic_write_replaces_keeps_the_mode_and_leaves_nothing_beside() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("a");
        atomic_write(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let before = identity(&path.metadata().unwrap());
        atomic_write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode(&path), 0o640);
        assert_ne!(identity(&path.metadata().unwrap()), before);
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);

        assert!(atomic_write(&tmp.path().join("none/a"), b"x").is_err());
        fs::create_dir(tmp.path().join("folder")).unwrap();
        assert!(atomic_write(&tmp.path().join("folder"), b"x").is_err());
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 2);
    }

    #[test]
    fn private_folders_are_private() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("a/b");
        create_private_dir(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        create_private_dir(&path).unwrap();
        assert_eq!(mode(&path), 0o700);

        let temp = TempDir::create(tmp.path(), "x-").unwrap();
        let kept = temp.path().to_owned();
        assert_eq!(mode(&kept), 0o700);
        drop(temp);
        assert!(!kept.exists());
    }

    #[test]
    fn removing_what_is_not_there_is_fine() {
        let tmp = tempfile::tempdir().unwrap();
        remove(&tmp.path().join("none")).unwrap();
        remove_tree(&tmp.path().join("none")).unwrap();
    }
}
