//! What the barrier costs: with events when nothing has changed, right after a write and when a folder of 5,000 files
//! comes, and without events, when all files are compared. Prints medians and the 99th of a hundred; `cargo bench --bench watch [FOLDERS FILES]`.
#![expect(clippy::print_stdout, reason = "it prints what it measures")]
#![expect(clippy::disallowed_methods, reason = "a measurement writes files of its own")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use langport::workspace::roots::Roots;
use langport::workspace::watch::{Barrier, Options, State, Watcher};

const LONG: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().filter_map(|word| word.parse::<usize>().ok());
    let (folders, files) = (numbers.next().unwrap_or(2_000), numbers.next().unwrap_or(10));
    let tmp = tempfile::tempdir()?;
    let root = tmp.path().canonicalize()?.join("ws");
    for folder in 0..folders {
        let folder = root.join(format!("d{}/e{folder}", folder % 40));
        fs::create_dir_all(&folder)?;
        for file in 0..files {
            fs::write(folder.join(format!("file_{file}.py")), "x = 1\n")?;
        }
    }
    println!("{folders} folders with {files} files each");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(&root))
}

async fn measure(root: &Path) -> Result<(), Box<dyn Error>> {
    let roots = Roots::new([root])?;
    let begun = Instant::now();
    let watcher = Watcher::start(&roots, &Options::default());
    watcher.states().wait_for(State::is_settled).await?;
    println!("{:28} {:>9.1} ms", "the watch stands after", begun.elapsed().as_secs_f64() * 1e3);
    let mut quiet = Vec::new();
    for _ in 0..100_000 {
        quiet.push(barrier(&watcher).await?);
    }
    report("barrier, nothing changed", quiet);
    let mut written = Vec::new();
    for round in 0..2_000 {
        fs::write(root.join(format!("d{}/new.py", round % 40)), round.to_string())?;
        written.push(barrier(&watcher).await?);
    }
    report("barrier, right after a write", written);
    come(&watcher, root).await?;
    drop(watcher);

    let watcher = Watcher::start(&roots, &Options { events: false, ..Options::default() });
    let mut swept = Vec::new();
    for round in 0..30 {
        fs::write(root.join(format!("d{}/new.py", round % 40)), round.to_string())?;
        let begun = Instant::now();
        watcher.barrier(LONG).await;
        swept.push(begun.elapsed());
    }
    report("barrier without events", swept);
    Ok(())
}

/// A folder with many files comes, and how much of that it takes to look at each of them, which tells those that have
/// several names.
async fn come(watcher: &Watcher, root: &Path) -> Result<(), Box<dyn Error>> {
    let (outside, inside) = (root.with_file_name("coming"), root.join("coming"));
    for file in 0..5_000 {
        let folder = outside.join(format!("p{}", file % 100));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("file_{file}.py")), "x = 1\n")?;
    }
    let (mut seen, mut listed, mut looked) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..50 {
        fs::rename(&outside, &inside)?;
        seen.push(barrier(watcher).await?);
        for (times, look) in [(&mut listed, false), (&mut looked, true)] {
            let begun = Instant::now();
            let mut names = 0;
            for folder in fs::read_dir(&inside)? {
                for file in fs::read_dir(folder?.path())? {
                    names += if look { file?.metadata()?.len() } else { file?.file_name().len() as u64 };
                }
            }
            assert!(names > 0, "there are files");
            times.push(begun.elapsed());
        }
        fs::rename(&inside, &outside)?;
        barrier(watcher).await?;
    }
    report("barrier, 5,000 files come", seen);
    report("  to list them", listed);
    report("  and to look at each", looked);
    Ok(())
}

async fn barrier(watcher: &Watcher) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    if watcher.barrier(LONG).await != Barrier::Seen {
        return Err("the barrier was not reached".into());
    }
    Ok(begun.elapsed())
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e6;
    println!("{what:28} {:>9.2} µs   p99 {:>9.2} µs", at(50), at(99));
}
