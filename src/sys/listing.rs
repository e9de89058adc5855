//! What a folder holds, listed anew only where it may hold something else than before: the stamps of the folder itself tell
//! that, on file systems of which it is known. Says nothing of what is in the files.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::files::{self, Identity};

/// What has changed this shortly before may change again with the same stamps: ext4 counts whole seconds where its inodes
/// are small.
const COARSE_NS: i128 = 3_000_000_000;

/// The entries of one folder as they were last listed.
#[derive(Debug, Default)]
pub struct Listing(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    folder: PathBuf,
    identity: Identity,
    entries: Arc<[PathBuf]>,
}

impl Listing {
    /// The entries now, in no order; none where there is no such folder. What each of them is has to be looked at.
    pub fn of(&self, folder: &Path) -> Arc<[PathBuf]> {
        self.at(folder, files::now_ns())
    }

    fn at(&self, folder: &Path, now: i128) -> Arc<[PathBuf]> {
        // Before it is listed: what comes meanwhile is seen the next time.
        let Ok(metadata) = folder.metadata() else { return Arc::default() };
        let identity = files::identity(&metadata);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept
            && kept.identity == identity
            && kept.folder == folder
        {
            return kept.entries.clone();
        }
        *kept = None;
        let Ok(listed) = fs::read_dir(folder) else { return Arc::default() };
        let mut whole = true;
        let entries: Arc<[PathBuf]> =
            listed.inspect(|entry| whole &= entry.is_ok()).filter_map(|entry| Some(entry.ok()?.path())).collect();
        let settled = now - identity.mtime_ns.max(identity.ctime_ns) > COARSE_NS;
        if whole && settled && is_stamped(folder) {
            *kept = Some(Kept { folder: folder.to_owned(), identity, entries: entries.clone() });
        }
        entries
    }
}

/// Whether a folder is stamped whenever an entry comes or goes, and these stamps are those of this moment: not those of a
/// server that were asked for a while ago.
#[cfg(target_os = "linux")]
fn is_stamped(folder: &Path) -> bool {
    // ext, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs, bcachefs.
    const KINDS: [u64; 8] =
        [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1, 0xF2F5_2010, 0xCA45_1A4E];
    let kind = rustix::fs::statfs(folder).ok().map(|it| i128::from(it.f_type) & 0xFFFF_FFFF);
    kind.is_some_and(|kind| KINDS.iter().any(|known| i128::from(*known) == kind))
}

#[cfg(not(target_os = "linux"))]
fn is_stamped(_: &Path) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    /// Waits until the clock of the file system has gone on since a folder was stamped.
    fn tick(folder: &Path, beside: &Path) {
        let stamp = |path: &Path| files::identity(&path.metadata().unwrap()).ctime_ns;
        let probe = beside.join("probe");
        loop {
            fs::write(&probe, "").unwrap();
            if stamp(&probe) > stamp(folder) {
                return;
            }
            std::thread::yield_now();
        }
    }

    fn names(entries: &[PathBuf]) -> String {
        let mut names: Vec<_> = entries.iter().map(|it| it.file_name().unwrap().to_str().unwrap()).collect();
        names.sort_unstable();
        names.join(" ")
    }

    #[test]
    fn what_comes_goes_or_takes_the_place_of_the_folder_is_seen() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path();
        let folder = base.join("folder");
        let listing = Listing::default();
        // As if all stamps were old already.
        let look = |folder: &Path| {
            let listed = listing.at(folder, files::now_ns() + 10 * COARSE_NS);
            let again = listing.at(folder, files::now_ns() + 10 * COARSE_NS);
            assert_eq!(Arc::ptr_eq(&listed, &again) && !listed.is_empty(), is_stamped(folder) && !listed.is_empty());
            if folder.is_dir() {
                tick(folder, base);
            }
            names(&listed)
        };
        assert_eq!(look(&folder), "");
        fs::create_dir(&folder).unwrap();
        assert_eq!(look(&folder), "");
        fs::write(folder.join("a.toml"), "1").unwrap();
        assert_eq!(look(&folder), "a.toml");
        fs::write(folder.join("b.new"), "2").unwrap();
        assert_eq!(look(&folder), "a.toml b.new");
        fs::rename(folder.join("b.new"), folder.join("b.toml")).unwrap();
        assert_eq!(look(&folder), "a.toml b.toml");
        fs::remove_file(folder.join("a.toml")).unwrap();
        assert_eq!(look(&folder), "b.toml");
        // Another folder goes by the name, as old as this one.
        let other = base.join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("c.toml"), "3").unwrap();
        tick(&other, base);
        fs::rename(&folder, base.join("aside")).unwrap();
        fs::rename(&other, &folder).unwrap();
        assert_eq!(look(&folder), "c.toml");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(look(&folder), "");
        // A link that leads elsewhere from now on.
        fs::create_dir(&other).unwrap();
        fs::write(other.join("d.toml"), "4").unwrap();
        tick(&other, base);
        std::os::unix::fs::symlink(base.join("aside"), &folder).unwrap();
        assert_eq!(look(&folder), "b.toml");
        fs::remove_file(&folder).unwrap();
        std::os::unix::fs::symlink(&other, &folder).unwrap();
        assert_eq!(look(&folder), "d.toml");
        // And through a link, too.
        fs::write(other.join("e.toml"), "5").unwrap();
        assert_eq!(look(&folder), "d.toml e.toml");
    }

    #[test]
    fn stamps_of_this_moment_prove_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let listing = Listing::default();
        for number in 0..100 {
            fs::write(temp.path().join(format!("{number}.toml")), "").unwrap();
            assert_eq!(listing.of(temp.path()).len(), number + 1);
        }
        assert!(listing.0.lock().unwrap().is_none());
    }
}
