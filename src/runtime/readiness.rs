//! Whether a server has loaded its project: the definition's own signal, else progress drained after a start grace.
//! Pure: time comes in as an argument.

use std::{collections::HashMap, path::Path, time::Duration};

use globset::GlobSet;
use regex::Regex;
use tokio::time::Instant;

/// What the definition says of readiness, compiled.
#[derive(Debug, Clone)]
pub struct Rule {
    /// A log line that ends loading.
    pub log: Option<Regex>,
    /// A custom notification, and the boolean field of its params that must be true (none: its arrival counts).
    pub notification: Option<(String, Option<String>)>,
    /// Title of the progress whose end is the signal.
    pub progress: Option<Regex>,
    /// The first request to pull diagnostics anew is the signal.
    pub refresh: bool,
    /// Titles of progress that is no work.
    pub standing: Option<Regex>,
    /// How long after the handshake the first sign of loading may take to show.
    pub grace: Duration,
    /// When to stop believing that the signal will come.
    pub timeout: Duration,
    /// Names of files whose coming or going makes the server count its files anew and give its signal again, and the
    /// longest wait for that: files that the server leaves out bring no signal.
    pub again: GlobSet,
    pub again_within: Duration,
    /// Project-wide questions are asked again until two answers agree.
    pub agree: bool,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            log: None,
            notification: None,
            progress: None,
            refresh: false,
            standing: None,
            grace: Duration::from_millis(300),
            timeout: Duration::from_secs(60),
            again: GlobSet::empty(),
            again_within: Duration::from_secs(1),
            agree: true,
        }
    }
}

impl Rule {
    /// Whether the definition names anything to wait for.
    pub fn has_signal(&self) -> bool {
        self.log.is_some() || self.notification.is_some() || self.progress.is_some() || self.refresh
    }
}

/// A progress that a server has begun and not ended.
#[derive(Debug, Clone)]
struct Open {
    title: String,
    message: Option<String>,
    percentage: Option<u32>,
    heard: Instant,
}

/// Where a server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Ready,
    /// Still loading; with the server's own progress title and percentage as one text (untrusted), if it told any, and
    /// the time at which silence alone would change the standing.
    Loading {
        progress: Option<String>,
        until: Instant,
    },
}

/// Follows one server's start.
#[derive(Debug)]
pub struct Readiness {
    rule: Rule,
    since: Instant,
    signalled: bool,
    /// Some progress has come and gone since the start.
    worked: bool,
    open: HashMap<String, Open>,
    ready: bool,
    /// The server is counting its files anew, until its signal or this point in time.
    counting: Option<Instant>,
    /// It has been given another folder, which it loads without giving its signal again.
    joined: bool,
}

/// Progress that nobody reported on for this long is taken for forgotten: some servers never end a token.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Tokens kept; a server that opens more is not believed about any of them.
const TOKENS: usize = 64;

impl Readiness {
    /// Starts at the end of the handshake.
    pub fn new(rule: Rule, now: Instant) -> Self {
        Self {
            rule,
            since: now,
            signalled: false,
            worked: false,
            open: HashMap::new(),
            ready: false,
            counting: None,
            joined: false,
        }
    }

    /// Whether project-wide answers need a second one that agrees.
    pub fn wants_agreement(&self) -> bool {
        self.rule.agree || self.joined
    }

    /// The server has been given another folder. It is ready once it says so again, where its signal is a state that it
    /// tells each time (rust-analyzer); else once the progress that this brings has ended.
    pub fn joined(&mut self, now: Instant) {
        let tells_again = self.rule.notification.as_ref().is_some_and(|(_, field)| field.is_some());
        self.joined = !tells_again;
        self.ready = false;
        self.signalled = false;
        self.worked = false;
        self.since = now;
    }

    /// The handshake is over: grace and timeout count from here.
    pub fn restart_clock(&mut self, now: Instant) {
        self.since = now;
    }

    /// A file came or went: the server may count anew.
    pub fn came_or_went(&mut self, path: &Path, now: Instant) {
        if path.file_name().is_some_and(|name| self.rule.again.is_match(name)) {
            self.counting = Some(now + self.rule.again_within);
        }
    }

    /// Until when project-wide questions have to wait for the server's signal.
    pub fn counting(&mut self, now: Instant) -> Option<Instant> {
        self.counting = self.counting.filter(|until| *until > now);
        self.counting
    }

    fn signal(&mut self) {
        self.signalled = true;
        self.counting = None;
    }

    /// A progress began, announced or not.
    pub fn began(&mut self, token: &str, title: &str, message: Option<&str>, percentage: Option<u32>, now: Instant) {
        if self.rule.standing.as_ref().is_some_and(|state| state.is_match(title)) {
            return;
        }
        if self.open.len() >= TOKENS {
            self.open.retain(|_, open| now.duration_since(open.heard) < FORGOTTEN);
        }
        if self.open.len() < TOKENS {
            let open = Open { title: title.to_owned(), message: message.map(str::to_owned), percentage, heard: now };
            self.open.insert(token.to_owned(), open);
        }
    }

    /// A progress went on.
    pub fn reported(&mut self, token: &str, message: Option<&str>, percentage: Option<u32>, now: Instant) {
        if let Some(open) = self.open.get_mut(token) {
            open.heard = now;
            open.percentage = percentage.or(open.percentage);
            if let Some(message) = message {
                open.message = Some(message.to_owned());
            }
        }
    }

    /// A progress ended.
    pub fn ended(&mut self, token: &str) {
        if let Some(open) = self.open.remove(token) {
            self.worked = true;
            if self.rule.progress.as_ref().is_some_and(|title| title.is_match(&open.title)) {
                self.signal();
            }
        }
    }

    /// A log line came.
    pub fn logged(&mut self, text: &str) {
        if self.rule.log.as_ref().is_some_and(|line| line.is_match(text)) {
            self.signal();
        }
    }

    /// The server has asked for its diagnostics to be pulled anew.
    pub fn refreshed(&mut self) {
        if self.rule.refresh {
            self.signal();
        }
    }

    /// A notification that LSP does not know came.
    pub fn notified(&mut self, method: &str, params: &serde_json::Value, now: Instant) {
        if let Some((name, field)) = &self.rule.notification
            && name == method
        {
            let holds = field.as_ref().is_none_or(|field| {
                field.split('.').try_fold(params, |value, key| value.get(key)).and_then(serde_json::Value::as_bool)
                    == Some(true)
            });
            if holds {
                self.signal();
            } else if self.ready {
                // It loads anew: rust-analyzer, when a manifest has changed.
                self.ready = false;
                self.signalled = false;
                self.since = now;
            }
        }
    }

    /// Whether any progress runs that has not been forgotten.
    pub fn at_work(&self, now: Instant) -> bool {
        self.open.values().any(|open| now.duration_since(open.heard) < FORGOTTEN)
    }

    /// Where the server stands at `now`. Once ready it stays ready, unless its own notification takes that back: later
    /// work is told by [`Self::at_work`].
    pub fn standing(&mut self, now: Instant) -> Standing {
        if self.ready {
            return Standing::Ready;
        }
        let age = now.duration_since(self.since);
        let until = if self.rule.has_signal() && !self.joined && age < self.rule.timeout {
            if self.signalled {
                self.ready = true;
                return Standing::Ready;
            }
            self.since + self.rule.timeout
        } else {
            // No signal, or one that failed to come: what has begun must have ended, and loading had its time to begin.
            let at_work = self.at_work(now);
            if !at_work && (self.worked || age >= self.rule.grace) {
                self.ready = true;
                return Standing::Ready;
            }
            if at_work { now + FORGOTTEN } else { self.since + self.rule.grace }
        };
        Standing::Loading { progress: self.progress(), until }
    }

    /// The newest progress as one line of the server's own words.
    fn progress(&self) -> Option<String> {
        let open = self.open.values().max_by_key(|open| open.heard)?;
        let mut text = open.title.clone();
        if let Some(message) = &open.message {
            text.push_str(": ");
            text.push_str(message);
        }
        if let Some(percentage) = open.percentage {
            text.push_str(&format!(" {}%", percentage.min(100)));
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn without_a_signal_grace_then_drained_progress() {
        let t = Instant::now();
        let mut r = Readiness::new(Rule::default(), t);
        assert!(matches!(r.standing(at(t, 100)), Standing::Loading { .. }));
        r.began("a", "Indexing", None, Some(5), at(t, 150));
        let Standing::Loading { progress, .. } = r.standing(at(t, 5000)) else { panic!("ready while at work") };
        assert_eq!(progress.as_deref(), Some("Indexing 5%"));
        r.ended("a");
        assert_eq!(r.standing(at(t, 5001)), Standing::Ready);
        r.began("b", "Check", None, None, at(t, 6000));
        assert_eq!(r.standing(at(t, 6001)), Standing::Ready, "later work does not undo loading");
        assert!(r.at_work(at(t, 6001)));
    }

    #[test]
    fn another_folder_is_loaded_without_the_signal() {
        let t = Instant::now();
        let mut r = Readiness::new(Rule { log: Some(Regex::new("^done").unwrap()), ..Rule::default() }, t);
        r.logged("done");
        assert_eq!(r.standing(t), Standing::Ready);
        r.joined(at(t, 1000));
        assert!(matches!(r.standing(at(t, 1100)), Standing::Loading { .. }));
        assert!(r.wants_agreement());
        r.began("a", "Loading b", None, None, at(t, 1200));
        assert!(matches!(r.standing(at(t, 3000)), Standing::Loading { .. }));
        r.ended("a");
        assert_eq!(r.standing(at(t, 3001)), Standing::Ready);

        let notification = Some(("status".into(), Some("quiet".into())));
        let mut r = Readiness::new(Rule { notification, ..Rule::default() }, t);
        r.notified("status", &serde_json::json!({"quiet": true}), t);
        assert_eq!(r.standing(t), Standing::Ready);
        r.joined(at(t, 1000));
        assert!(matches!(r.standing(at(t, 9000)), Standing::Loading { .. }));
        r.notified("status", &serde_json::json!({"quiet": true}), at(t, 9000));
        assert_eq!(r.standing(at(t, 9001)), Standing::Ready);
    }

    #[test]
    fn progress_that_stands_for_a_state_is_no_work() {
        let t = Instant::now();
        let mut r = Readiness::new(Rule { standing: Some(Regex::new("^Error").unwrap()), ..Rule::default() }, t);
        r.began("a", "Error loading workspace", None, None, t);
        assert!(!r.at_work(t));
        assert_eq!(r.standing(at(t, 300)), Standing::Ready);
    }

    #[test]
    fn a_silent_server_is_ready_after_the_grace() {
        let t = Instant::now();
        let mut r = Readiness::new(Rule::default(), t);
        let Standing::Loading { until, .. } = r.standing(t) else { panic!() };
        assert_eq!(r.standing(until), Standing::Ready);
    }

    #[test]
    fn a_signal_is_waited_for_and_given_up_at_its_timeout() {
        let t = Instant::now();
        let rule = Rule {
            log: Some(Regex::new("Found \\d+ source").unwrap()),
            timeout: Duration::from_secs(10),
            ..Rule::default()
        };
        let mut r = Readiness::new(rule.clone(), t);
        assert!(matches!(r.standing(at(t, 9_000)), Standing::Loading { .. }));
        r.logged("Found 41 source files");
        assert_eq!(r.standing(at(t, 9_001)), Standing::Ready);
        let mut r = Readiness::new(rule, t);
        assert_eq!(r.standing(at(t, 10_000)), Standing::Ready);
    }

    #[test]
    fn files_that_come_make_the_signal_count_anew() {
        let t = Instant::now();
        let again = globset::GlobSetBuilder::new().add(globset::Glob::new("*.py").unwrap()).build().unwrap();
        let rule = Rule { log: Some(Regex::new("Found").unwrap()), again, ..Rule::default() };
        let mut r = Readiness::new(rule, t);
        r.logged("Found 1");
        r.came_or_went(Path::new("/w/notes.txt"), t);
        assert_eq!(r.counting(t), None);
        r.came_or_went(Path::new("/w/late.py"), t);
        assert_eq!(r.counting(at(t, 999)), Some(at(t, 1000)));
        assert_eq!(r.standing(at(t, 10)), Standing::Ready, "other questions need not wait");
        assert_eq!(r.counting(at(t, 1000)), None, "a file that the server leaves out brings no signal");
        r.came_or_went(Path::new("/w/later.py"), at(t, 2000));
        r.logged("Found 2");
        assert_eq!(r.counting(at(t, 2001)), None);
    }

    #[test]
    fn a_refresh_is_a_signal_where_it_is_named() {
        let t = Instant::now();
        for refresh in [true, false] {
            let rule = Rule { refresh, grace: Duration::from_secs(2), ..Rule::default() };
            let mut r = Readiness::new(rule, t);
            r.refreshed();
            assert_eq!(r.standing(at(t, 400)) == Standing::Ready, refresh);
        }
    }

    #[test]
    fn a_boolean_field_must_hold() {
        let t = Instant::now();
        let rule = Rule {
            notification: Some(("experimental/serverStatus".into(), Some("quiescent".into()))),
            ..Rule::default()
        };
        let mut r = Readiness::new(rule, t);
        r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": false}), t);
        assert!(matches!(r.standing(at(t, 400)), Standing::Loading { .. }));
        r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": true}), t);
        assert_eq!(r.standing(at(t, 401)), Standing::Ready);
        r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": false}), at(t, 90_000));
        assert!(matches!(r.standing(at(t, 90_001)), Standing::Loading { .. }), "it loads the project anew");
        r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": true}), at(t, 91_000));
        assert_eq!(r.standing(at(t, 91_000)), Standing::Ready);
    }

    #[test]
    fn a_token_that_never_ends_is_forgotten() {
        let t = Instant::now();
        let mut r = Readiness::new(Rule::default(), t);
        r.began("x", "Loading", None, None, t);
        assert!(matches!(r.standing(at(t, 59_000)), Standing::Loading { .. }));
        assert_eq!(r.standing(at(t, 60_000)), Standing::Ready);
    }
}
