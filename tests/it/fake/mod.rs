//! The scripted language server that langport starts: this test program again, told by an environment variable.

pub(crate) mod acts;
pub(crate) mod answers;
pub(crate) mod edits;
pub(crate) mod mirror;
pub(crate) mod script;
pub(crate) mod text;
pub(crate) mod wire;

use std::{
    collections::HashMap,
    io::{BufReader, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use self::{
    answers::{Scene, root_of},
    mirror::Mirror,
    script::{Act, Script},
    text::Unit,
};

/// Names the script's file.
pub(crate) const SCRIPT: &str = "LANGPORT_FAKE_SCRIPT";

/// One running fake server.
pub(crate) struct Fake {
    script: Script,
    /// The how-manieth start this is, by the log.
    start: usize,
    unit: Unit,
    mirror: Mutex<Mirror>,
    counts: Mutex<HashMap<String, usize>>,
    asked: Mutex<HashMap<String, Sender<Value>>>,
    ended: Mutex<Vec<String>>,
    root: Mutex<Option<PathBuf>>,
    down: AtomicBool,
    output: Mutex<std::io::Stdout>,
    /// The newest version of each document that a list was published for.
    published: Mutex<HashMap<String, i64>>,
}

/// A lock that a panicking thread cannot spoil.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Does nothing any more.
fn forever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Is the server until the end.
pub(crate) fn run(script: &Path) -> ! {
    let text = std::fs::read_to_string(script).expect("the script is readable");
    let script: Script = serde_json::from_str(&text).expect("the script is well formed");
    let before = std::fs::read_to_string(&script.log).unwrap_or_default();
    let start = before.lines().filter(|l| l.contains("\"event\":\"start\"")).count() + 1;
    if script.ignore_term {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    }
    if let Some(address) = &script.address {
        let listener = std::net::TcpListener::bind(address).expect("an address");
        let (client, _) = listener.accept().expect("a client");
        // What the fake prints before is no wire: it stays on the pipe.
        for descriptor in [0, 1] {
            // SAFETY: both are descriptors of this very process.
            unsafe { libc::dup2(client.as_raw_fd(), descriptor) };
        }
    }
    let unit = Unit::named(script.encoding.as_deref().or(script.old_encoding.as_deref()));
    let fake = Arc::new(Fake {
        start,
        unit,
        mirror: Mutex::default(),
        counts: Mutex::default(),
        asked: Mutex::default(),
        ended: Mutex::default(),
        root: Mutex::default(),
        down: AtomicBool::new(false),
        output: Mutex::new(std::io::stdout()),
        published: Mutex::default(),
        script,
    });
    let cwd = std::env::current_dir().unwrap_or_default();
    let names: Vec<String> = std::env::vars().map(|(k, _)| k).collect();
    let args: Vec<String> = std::env::args().skip(1).collect();
    fake.event("start", json!({"cwd": cwd, "args": args, "env": names}));
    fake.moment("start", &Value::Null, None);
    fake.serve();
    std::process::exit(0)
}

impl Fake {
    /// Writes one line of the log.
    fn log(&self, mut line: Value) {
        line["pid"] = json!(std::process::id());
        line["start"] = json!(self.start);
        line["t"] = json!(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis()));
        let text = format!("{line}\n");
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&self.script.log);
        let _ = file.and_then(|mut f| f.write_all(text.as_bytes()));
    }

    fn event(&self, name: &str, about: Value) {
        self.log(json!({"event": name, "about": about}));
    }

    fn send(&self, message: &Value) {
        if wire::write(&mut *lock(&self.output), message).is_err() {
            std::process::exit(0);
        }
    }

    fn bytes(&self, bytes: &[u8]) {
        self.all_bytes([bytes]);
    }

    /// One message in parts: nothing of another thread's comes in between.
    fn all_bytes<'b>(&self, parts: impl IntoIterator<Item = &'b [u8]>) {
        let mut output = lock(&self.output);
        let written = parts.into_iter().try_for_each(|part| output.write_all(part));
        if written.and_then(|()| output.flush()).is_err() {
            std::process::exit(0);
        }
    }

    fn serve(self: &Arc<Self>) {
        let (queue, messages) = channel::<Value>();
        let reader = Arc::clone(self);
        std::thread::spawn(move || reader.read(&queue));
        while let Ok(message) = messages.recv() {
            self.handle(&message);
        }
        if self.script.ignore_exit {
            forever();
        }
    }

    fn read(&self, queue: &Sender<Value>) {
        let mut input = BufReader::new(std::io::stdin());
        loop {
            let Some(body) = wire::read(&mut input) else { return };
            let Ok(message) = serde_json::from_slice::<Value>(&body) else {
                self.event("violation", json!(format!("not JSON: {}", String::from_utf8_lossy(&body))));
                continue;
            };
            self.log(json!({"in": message}));
            if let Some(method) = message["method"].as_str() {
                let acts = || self.script.on.get(method).into_iter().flatten().flatten();
                let last = acts().any(|a| matches!(a, Act::StopReading));
                let hold: Vec<&PathBuf> =
                    acts().filter_map(|a| if let Act::HoldReading(gate) = a { Some(gate) } else { None }).collect();
                let _ = queue.send(message);
                if last {
                    forever();
                }
                hold.into_iter().for_each(|gate| acts::wait_for(gate));
            } else if let Some(asker) = lock(&self.asked).remove(&message["id"].to_string()) {
                let _ = asker.send(message);
            } else if message["id"].is_null() || message.get("error").is_none() {
                self.event("violation", json!(format!("an answer to nothing: {message}")));
            }
        }
    }

    /// Takes one request or notification, in order.
    fn handle(self: &Arc<Self>, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default();
        let params = &message["params"];
        self.check(method, message);
        let broken = lock(&self.mirror).take(method, params, self.unit);
        for rule in broken {
            self.event("violation", json!(rule));
        }
        if matches!(method, "textDocument/didOpen" | "textDocument/didChange") {
            let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
            let text = lock(&self.mirror).open.get(uri).map(|d| d.text.clone()).filter(|t| t.len() < 10_000);
            self.event("text", json!({"uri": uri, "text": text}));
        }
        match method {
            "initialize" => {
                let root = root_of(params);
                if let Some(root) = root.as_ref().filter(|_| !self.script.unread) {
                    lock(&self.mirror).scan(root);
                }
                *lock(&self.root) = root;
            }
            "shutdown" => self.down.store(true, Ordering::Relaxed),
            "exit" if !self.script.ignore_exit => {
                self.event("exit", Value::Null);
                std::process::exit(0);
            }
            "textDocument/didOpen" if self.script.publish.on_open => self.publish(params, false),
            "textDocument/didChange" if self.script.publish.on_change => self.publish(params, true),
            "textDocument/didSave" if self.script.publish.on_save => self.publish(params, true),
            "workspace/didChangeWatchedFiles" if self.script.publish.on_change => self.publish_dependents(params),
            _ => {}
        }
        self.moment(method, params, message.get("id"));
    }

    fn check(&self, method: &str, message: &Value) {
        let first = {
            let mut counts = lock(&self.counts);
            let seen = counts.entry("any".into()).or_default();
            *seen += 1;
            *seen == 1
        };
        let params = message.get("params");
        if first && method != "initialize" {
            self.event("violation", json!(format!("{method} before initialize")));
        }
        if self.down.load(Ordering::Relaxed) && method != "exit" {
            self.event("violation", json!(format!("{method} after shutdown")));
        }
        if method == "shutdown" && params.is_some_and(|p| !p.is_null()) {
            self.event("violation", json!("shutdown with params"));
        }
        if message["jsonrpc"] != "2.0" {
            self.event("violation", json!("no jsonrpc 2.0"));
        }
    }

    fn scene<T>(&self, look: impl FnOnce(&Scene<'_>) -> T) -> T {
        let mirror = lock(&self.mirror);
        look(&Scene { script: &self.script, mirror: &mirror, unit: self.unit })
    }

    /// Which time this method comes, counted from 0.
    fn turn(&self, method: &str) -> usize {
        let mut counts = lock(&self.counts);
        let count = counts.entry(format!("turn {method}")).or_default();
        *count += 1;
        *count - 1
    }
}
