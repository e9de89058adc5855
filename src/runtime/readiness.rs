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
    /// What it loads is another folder, beside those that it had loaded.
    adding: bool,
    /// How often it has begun to load anew.
    again: u64,
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
            adding: false,
            again: 0,
        }
    }

    /// How often it has begun to load anew.
    pub fn loads(&self) -> u64 {
        self.again
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
        self.adding |= self.ready;
        self.again += 1;
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
                self.again += 1;
                self.adding = false;
                self.ready = false;
                self.signalled = false;
                self.since = now;
            }
        }
    }

    /// Whether it loads another folder, and nothing else that is known of.
    pub fn is_adding(&self) -> bool {
        self.adding && !self.ready
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
mod tests;
