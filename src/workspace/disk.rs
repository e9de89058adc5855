//! Files as they are on the disk now: text, hash and identity, read again only when something may have changed.
//! Knows nothing of documents that servers were told of.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::sys::blocking::blocking;
use crate::sys::files::{self, Identity};

/// How many files are kept at most, however small.
const ENTRIES: usize = 4096;
/// Where a NUL byte makes a file binary, as git sees it.
const SNIFFED: usize = 8000;

/// A file's content at one moment.
#[derive(Debug)]
pub struct Snapshot {
    pub path: Arc<Path>,
    pub identity: Identity,
    /// xxh3 of the bytes.
    pub hash: u64,
    /// Without byte order mark.
    pub text: Arc<str>,
    /// There was a byte order mark.
    pub bom: bool,
    /// The bytes were not UTF-8: what could not be read is replaced.
    pub lossy: bool,
    /// Rises with each content that is read; the same for the same content of a path as long as it is kept.
    pub serial: u64,
}

/// Why a file has no text.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{path} does not exist", path = .0.display())]
    NotFound(PathBuf),
    #[error("{path} has {size} bytes, more than the {limit} that are read", path = path.display())]
    TooLarge { path: PathBuf, size: u64, limit: u64 },
    #[error("{path} is a folder", path = .0.display())]
    Directory(PathBuf),
    #[error("{path} is binary", path = .0.display())]
    Binary(PathBuf),
    /// A pipe, a device, a socket: reading one could take for ever.
    #[error("{path} is not a regular file", path = .0.display())]
    Special(PathBuf),
    #[error("cannot read {path}: {source}", path = path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The disk, with a bounded memory of what was last read from it.
#[derive(Debug)]
pub struct Disk {
    limit: u64,
    budget: usize,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    entries: HashMap<Arc<Path>, Entry>,
    bytes: usize,
    /// Counts up with each use, so that the least recently used one can be told.
    clock: u64,
    serial: u64,
}

#[derive(Debug)]
struct Entry {
    snapshot: Arc<Snapshot>,
    /// It changed so shortly before it was read that an equal identity proves nothing.
    racy: bool,
    used: u64,
}

impl Disk {
    /// Files of more than `limit` bytes are not read; texts of `budget` bytes in all are kept.
    #[must_use]
    pub fn new(limit: u64, budget: usize) -> Disk {
        Disk { limit, budget, cache: Mutex::default() }
    }

    /// The file as it is now. Reads it only if its identity has changed or proves nothing.
    ///
    /// # Errors
    /// When it is no readable text file of allowed size.
    pub fn read(&self, path: &Path) -> Result<Arc<Snapshot>, ReadError> {
        self.read_if(path, || true)
    }

    /// As [`Disk::read`], but what has to be read anew is read only if `allowed`: another file may go by that name since.
    ///
    /// # Errors
    /// As [`Disk::read`]; what is not allowed does not exist.
    pub fn read_if(&self, path: &Path, allowed: impl FnOnce() -> bool) -> Result<Arc<Snapshot>, ReadError> {
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return Err(self.failed(path, error)),
        };
        if let Some(kept) = self.kept(path, files::identity(&metadata)) {
            return Ok(kept);
        }
        if !allowed() {
            self.forget(path);
            return Err(ReadError::NotFound(path.to_owned()));
        }
        // Slow disks and large files keep nobody waiting who wants something else.
        let contents = blocking(|| Contents::read(path, self.limit)).inspect_err(|_| self.forget(path))?;
        Ok(self.keep(path, contents))
    }

    /// The identity of the file as it is now, without reading it.
    ///
    /// # Errors
    /// When there is no file.
    pub fn identity(&self, path: &Path) -> Result<Identity, ReadError> {
        path.metadata().map(|metadata| files::identity(&metadata)).map_err(|error| self.failed(path, error))
    }

    /// Is this snapshot still what is on the disk? Costs one `stat`, and a reading where that proves nothing.
    #[must_use]
    pub fn is_current(&self, snapshot: &Snapshot) -> bool {
        self.read(&snapshot.path).is_ok_and(|now| now.hash == snapshot.hash)
    }

    /// Drops what is kept of a file.
    pub fn forget(&self, path: &Path) {
        let mut cache = self.cache();
        if let Some(entry) = cache.entries.remove(path) {
            cache.bytes -= entry.snapshot.text.len();
        }
    }

    fn kept(&self, path: &Path, identity: Identity) -> Option<Arc<Snapshot>> {
        let mut cache = self.cache();
        cache.clock += 1;
        let clock = cache.clock;
        let entry = cache.entries.get_mut(path)?;
        if entry.racy || entry.snapshot.identity != identity {
            return None;
        }
        entry.used = clock;
        Some(Arc::clone(&entry.snapshot))
    }

    fn keep(&self, path: &Path, contents: Contents) -> Arc<Snapshot> {
        let mut cache = self.cache();
        cache.clock += 1;
        let used = cache.clock;
        let old = cache.entries.remove(path);
        if let Some(old) = &old {
            cache.bytes -= old.snapshot.text.len();
        }
        let same = old
            .map(|old| old.snapshot)
            .filter(|old| old.hash == contents.hash && *old.text == *contents.text && old.bom == contents.bom);
        let snapshot = match same {
            Some(same) if same.identity == contents.identity => same,
            // Written again, but nothing in it changed: the serial, by which others remember it, stays.
            Some(same) => Arc::new(Snapshot {
                path: Arc::clone(&same.path),
                identity: contents.identity,
                hash: same.hash,
                text: Arc::clone(&same.text),
                bom: same.bom,
                lossy: same.lossy,
                serial: same.serial,
            }),
            None => {
                cache.serial += 1;
                Arc::new(Snapshot {
                    path: path.into(),
                    identity: contents.identity,
                    hash: contents.hash,
                    text: contents.text,
                    bom: contents.bom,
                    lossy: contents.lossy,
                    serial: cache.serial,
                })
            }
        };
        cache.bytes += snapshot.text.len();
        let entry = Entry { snapshot: Arc::clone(&snapshot), racy: contents.racy, used };
        cache.entries.insert(Arc::clone(&snapshot.path), entry);
        cache.shrink(self.budget);
        snapshot
    }

    fn failed(&self, path: &Path, error: io::Error) -> ReadError {
        self.forget(path);
        read_error(path, error)
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn shrink(&mut self, budget: usize) {
        while (self.bytes > budget || self.entries.len() > ENTRIES) && self.entries.len() > 1 {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(path, _)| Arc::clone(path));
            let Some(entry) = oldest.and_then(|path| self.entries.remove(&path)) else { return };
            self.bytes -= entry.snapshot.text.len();
        }
    }
}

fn read_error(path: &Path, source: io::Error) -> ReadError {
    match source.kind() {
        // `a.py/b` is no file either.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound(path.to_owned()),
        _ => ReadError::Io { path: path.to_owned(), source },
    }
}

/// One reading.
struct Contents {
    identity: Identity,
    hash: u64,
    text: Arc<str>,
    bom: bool,
    lossy: bool,
    racy: bool,
}

impl Contents {
    fn read(path: &Path, limit: u64) -> Result<Contents, ReadError> {
        let mut began = files::now_ns();
        let (mut identity, mut bytes, mut torn) = Contents::bytes(path, limit)?;
        // A writer may be in the middle of it. Two more readings see most of them through; after that it is taken as
        // it is, as a reading that proves nothing.
        for _ in 0..2 {
            if torn {
                began = files::now_ns();
                (identity, bytes, torn) = Contents::bytes(path, limit)?;
            }
        }
        let racy = torn || !identity.is_proof(began);
        if bytes[..bytes.len().min(SNIFFED)].contains(&0) {
            return Err(ReadError::Binary(path.to_owned()));
        }
        let hash = xxh3_64(&bytes);
        let (bom, body) = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(body) => (true, body),
            None => (false, &bytes[..]),
        };
        let text = String::from_utf8_lossy(body);
        let lossy = matches!(text, std::borrow::Cow::Owned(_));
        Ok(Contents { identity, hash, text: text.into(), bom, lossy, racy })
    }

    fn bytes(path: &Path, limit: u64) -> Result<(Identity, Vec<u8>, bool), ReadError> {
        let io = |error| read_error(path, error);
        let mut file = files::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if metadata.is_dir() {
            return Err(ReadError::Directory(path.to_owned()));
        }
        if !metadata.is_file() {
            return Err(ReadError::Special(path.to_owned()));
        }
        let too_large = |size| ReadError::TooLarge { path: path.to_owned(), size, limit };
        if metadata.len() > limit {
            return Err(too_large(metadata.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        (&mut file).take(limit + 1).read_to_end(&mut bytes).map_err(io)?;
        let read = bytes.len() as u64;
        if read > limit {
            return Err(too_large(read));
        }
        let (before, after) = (files::identity(&metadata), files::identity(&file.metadata().map_err(io)?));
        // A link count or a mode that changed meanwhile changes the ctime, too: harmless, it is read once more.
        Ok((after, bytes, before != after || read != after.size))
    }
}

#[cfg(test)]
mod tests;
