//! langport's log on disk: each process has a file of its own, so that none waits for another or writes into its lines;
//! bounded in size, and few are kept. Rolling appenders that are crates roll by time alone, or share one file.
#![expect(clippy::disallowed_methods, reason = "this is one of the places where files are written")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{files, secrets};

/// Bytes of one file; the one before it is kept.
const SIZE: u64 = 2 * 1024 * 1024;
/// Files of processes that have ended which are kept.
const KEPT: usize = 10;
const ENDING: &str = ".jsonl";

/// A process's log. Nothing is there before the first line.
#[derive(Debug)]
pub struct Log {
    folder: PathBuf,
    size: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Closed,
    Open {
        file: File,
        path: PathBuf,
        written: u64,
    },
    /// It cannot be written, and that was said once.
    Broken,
}

impl Log {
    /// A log in a folder, which need not be there.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, size: SIZE, state: Mutex::new(State::Closed) }
    }

    /// Writes whole lines, without what is secret. Never fails: a log that cannot be written is none.
    pub fn write(&self, lines: &str) {
        let lines = secrets::hide(lines);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.try_write(&mut state, lines.as_bytes()) {
            *state = State::Broken;
            let _ = writeln!(io::stderr(), "langport: no log is written to {}: {error}", self.folder.display());
        }
    }

    fn try_write(&self, state: &mut State, lines: &[u8]) -> io::Result<()> {
        if matches!(state, State::Closed) {
            files::create_private_dir(&self.folder)?;
            prune(&self.folder);
            let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            *state = open(self.folder.join(format!("{seconds}-{}{ENDING}", std::process::id())))?;
        }
        let State::Open { file, path, written } = state else { return Ok(()) };
        // One call: also a process that is killed leaves whole lines.
        file.write_all(lines)?;
        *written += lines.len() as u64;
        if *written >= self.size {
            let path = path.clone();
            fs::rename(&path, path.with_extension("1.jsonl"))?;
            *state = open(path)?;
        }
        Ok(())
    }
}

fn open(path: PathBuf) -> io::Result<State> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path)?;
    // Tells others that its process lives.
    let _ = file.try_lock();
    let written = file.metadata()?.len();
    Ok(State::Open { file, path, written })
}

/// Removes the oldest files of processes that have ended.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let ended = |path: &PathBuf| {
        let file = OpenOptions::new().append(true).open(path);
        file.is_ok_and(|file| file.try_lock().is_ok())
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(ENDING) && ended(path));
    // Their names begin with the time.
    files.sort();
    for path in files.iter().rev().skip(KEPT - 1) {
        files::remove(path).ok();
    }
}

/// Gives each event to a function, as one text.
pub struct Lines<'a>(pub &'a (dyn Fn(&str) + Sync));

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn bounded_in_size_and_number_and_for_the_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let tmp = tempfile::tempdir().unwrap();
        let folder = tmp.path().join("log");
        fs::create_dir(&folder).unwrap();
        for old in 0..30 {
            fs::write(folder.join(format!("10{old:02}-7.jsonl")), "old\n").unwrap();
        }
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        // One of a process that lives.
        let live = open(folder.join("1000-7.jsonl")).unwrap();
        let log = Log { size: 1_000, ..Log::new(folder.clone()) };
        let line = format!("{}\n", "x".repeat(99));
        for _ in 0..25 {
            log.write(&line);
        }
        let names = names(&folder);
        assert_eq!(names.iter().filter(|name| name.ends_with("-7.jsonl")).count(), KEPT, "{names:?}");
        assert!(names.contains(&"1000-7.jsonl".to_owned()) && names.contains(&"notes.txt".to_owned()), "{names:?}");
        let own: Vec<_> = names.iter().filter(|name| name.contains(&format!("-{}.", std::process::id()))).collect();
        assert_eq!(own.len(), 2, "{names:?}");
        for name in own {
            let metadata = fs::metadata(folder.join(name)).unwrap();
            assert!(metadata.len() <= 1_100);
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        }
        drop(live);
    }

    #[test]
    fn nothing_is_there_before_the_first_line_and_nothing_secret_after_it() {
        let tmp = tempfile::tempdir().unwrap();
        let folder = tmp.path().join("log");
        let log = Log::new(folder.clone());
        assert!(!folder.exists());
        log.write("{\"url\":\"https://me:secret99@host/\"}\n");
        let text = fs::read_to_string(folder.join(&names(&folder)[0])).unwrap();
        assert_eq!(text, "{\"url\":\"https://[hidden]@host/\"}\n");
    }
}
