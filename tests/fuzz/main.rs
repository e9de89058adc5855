//! Odd inputs for everything that reads what others write: mutations of a stored corpus, bounded in time, on stable Rust.
//!
//! `cargo test --test fuzz` takes some seconds; `FUZZ_SECONDS=600 cargo test --test fuzz wire` looks longer at one
//! target, with another seed each time (`FUZZ_SEED` repeats one). A failing input is made small, stored below `target`,
//! and named together with the command that replays it. What was found once belongs into `corpus/TARGET/`.
#![expect(clippy::disallowed_methods, reason = "tests read their environment and write files of their own")]
#![expect(clippy::print_stderr, reason = "the seed has to be known to repeat a run")]

mod mutate;
mod targets;

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

/// What one target may take where nobody asks for more: all together stay below half a minute on one core.
const BUDGET: Duration = Duration::from_millis(2_500);
/// Inputs between two looks at the clock.
const BATCH: u32 = 32;

macro_rules! targets {
    ($($name:ident),+) => { $(
        #[test]
        fn $name() {
            fuzz(stringify!($name), targets::$name);
        }
    )+ };
}

targets![wire, client, visitors, capabilities, uris, text, address, cursor, secrets];

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("a corpus").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(&path).expect("a file of the corpus"))).collect()
}

fn fuzz(target: &str, check: fn(&[u8])) {
    if let Some(path) = std::env::var_os("FUZZ_INPUT") {
        check(&fs::read(&path).expect("the input to replay"));
        return;
    }
    let corpus = corpus(target);
    assert!(!corpus.is_empty(), "{target} has no corpus");
    for (path, input) in &corpus {
        let checked = catch_unwind(|| check(input));
        assert!(checked.is_ok(), "{target} fails on {}\n{}", path.display(), replay(target, path));
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let budget = number("FUZZ_SECONDS").map_or(BUDGET, Duration::from_secs);
    let seed =
        number("FUZZ_SEED").unwrap_or(if number("FUZZ_SECONDS").is_some() { std::process::id().into() } else { 1 });
    eprintln!("{target}: FUZZ_SEED={seed}");
    let seeds: Vec<Vec<u8>> = corpus.into_iter().map(|(_, input)| input).collect();
    let begun = Instant::now();
    let mut tried = 0_u64;
    while begun.elapsed() < budget {
        // A runner counts its cases for good: each batch has its own.
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&tried.to_le_bytes());
        let config = Config { cases: BATCH, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let run = runner.run(&mutate::inputs(seeds.len()), |recipe| {
            let input = recipe.apply(&seeds);
            // proptest catches the panic of a failing input, to make it smaller.
            catch_unwind(AssertUnwindSafe(|| check(&input)))
                .map_err(|panic| proptest::test_runner::TestCaseError::fail(mutate::reason(&*panic)))
        });
        match run {
            Ok(()) => tried += u64::from(BATCH),
            Err(TestError::Fail(reason, recipe)) => {
                let path = store(target, &recipe.apply(&seeds));
                panic!("{target}, after {tried} inputs: {reason}\n{}", replay(target, &path));
            }
            Err(TestError::Abort(reason)) => panic!("{target}: {reason}"),
        }
    }
    assert!(tried > 0);
    eprintln!("{target}: {tried} inputs");
}

fn store(target: &str, input: &[u8]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}-{:016x}", hasher.finish()));
    fs::write(&path, input).expect("the failing input is stored");
    path
}

fn replay(target: &str, path: &Path) -> String {
    format!(
        "replay it: FUZZ_INPUT={} cargo test --test fuzz {target}\nonce it is mended, keep the input in tests/fuzz/corpus/{target}/",
        path.display()
    )
}
