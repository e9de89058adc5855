//! A server in memory, whose every life is scripted, and a machine with nothing else on it.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    time::Instant,
};

use crate::{
    protocol::{Room, Streams, positions::Point},
    registry::{Confinement, Entry, Scope, Source, Surroundings},
    runtime::{
        breaker::Budget,
        ground::Ground,
        pool::{Pool, PoolLimits},
        query::{Query, Question, Reply},
        shortfall::Shortfall,
        start::{Opener, Starter},
    },
    sys::{dirs::Dirs, env::Env, files},
    workspace::{
        disk::Disk,
        roots::Roots,
        watch::{Options, Watcher},
    },
};

/// One life of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Life {
    /// It cannot be started.
    Refuses,
    /// It ends when it has been initialized.
    Dies,
    /// It is initialized and answers nothing after that.
    Mute,
    /// It answers nothing but the unknown.
    Slow,
    /// It does all but end.
    Stubborn,
    Healthy,
}

/// Where a test's server lives. The last life repeats.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    lives: VecDeque<Life>,
    capabilities: Value,
    opened: usize,
    received: Vec<Value>,
}

impl Memory {
    pub(crate) fn of(lives: impl IntoIterator<Item = Life>) -> Self {
        let memory = Self::default();
        memory.0.lock().unwrap().lives = lives.into_iter().collect();
        memory.says(&json!({}))
    }

    /// Capabilities beside hover and documents.
    pub(crate) fn says(self, more: &Value) -> Self {
        let mut all = json!({"hoverProvider": true, "textDocumentSync": {"openClose": true, "change": 1}});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.0.lock().unwrap().capabilities = all;
        self
    }

    pub(crate) fn opened(&self) -> usize {
        self.0.lock().unwrap().opened
    }

    /// The parameters of everything received under a method.
    pub(crate) fn received(&self, method: &str) -> Vec<Value> {
        let inner = self.0.lock().unwrap();
        inner.received.iter().filter(|it| it["method"] == method).map(|it| it["params"].clone()).collect()
    }

    pub(crate) fn open(&self) -> Result<Streams, String> {
        let mut inner = self.0.lock().unwrap();
        inner.opened += 1;
        let life = if inner.lives.len() > 1 { inner.lives.pop_front() } else { inner.lives.front().cloned() };
        let life = life.unwrap_or(Life::Refuses);
        if life == Life::Refuses {
            return Err("no luck today".into());
        }
        let ((input, theirs), (mine, output)) = (duplex(1 << 16), duplex(1 << 16));
        tokio::spawn(live(self.clone(), life, mine, theirs));
        Ok(Streams { input: Box::new(input), output: Box::new(output), unread: None })
    }
}

async fn live(memory: Memory, life: Life, input: DuplexStream, mut output: DuplexStream) {
    let mut input = BufReader::new(input);
    while let Some(message) = read(&mut input).await {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        memory.0.lock().unwrap().received.push(message.clone());
        if life == Life::Stubborn && matches!(&*method, "shutdown" | "exit") {
            continue;
        }
        if method == "exit" || (method == "initialized" && life == Life::Dies) {
            return;
        }
        let Some(id) = message.get("id") else { continue };
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        match (method.as_str(), &life) {
            ("initialize", _) => {
                answer["result"] = json!({"capabilities": memory.0.lock().unwrap().capabilities.clone()});
            }
            (_, Life::Mute) => continue,
            ("shutdown", _) => answer["result"] = Value::Null,
            ("textDocument/hover", Life::Slow) => continue,
            ("textDocument/hover", _) => answer["result"] = json!({"contents": "int"}),
            _ => answer["error"] = json!({"code": -32601, "message": "unknown"}),
        }
        let body = answer.to_string();
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        if output.write_all(frame.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(input: &mut BufReader<DuplexStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.trim().parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).await.ok()?;
    serde_json::from_slice(&body).ok()
}

/// A workspace, a program and a pool.
pub(crate) struct Machine {
    temp: tempfile::TempDir,
    pub(crate) pool: Arc<Pool>,
    pub(crate) memory: Memory,
}

impl Machine {
    pub(crate) fn new(memory: Memory, instances: usize) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for name in ["one", "two", "three"] {
            files::create_dirs(&base.join("ws").join(name)).unwrap();
            files::write(&base.join("ws").join(name).join("a.py"), b"alpha\n").unwrap();
        }
        files::write(&base.join("server"), b"#!/bin/sh\n").unwrap();
        executable(&base.join("server"));
        let roots = Roots::new([base.join("ws")]).unwrap();
        let watcher = Watcher::start(&roots, &Options { events: false, ..Options::default() });
        let ground = Ground::new(roots, Disk::new(1 << 20, 1 << 20), watcher, Duration::from_millis(200));
        let [config, state, data, managed] = ["c", "s", "d", "m"].map(|name| base.join(name));
        let around = Surroundings {
            dirs: Dirs { config, state, data, managed },
            vars: Env::default(),
            workspace: vec![base.join("ws")],
        };
        let starter = Starter {
            ground: Arc::new(ground),
            around,
            start_timeout: Duration::from_secs(60),
            shutdown: Duration::from_secs(5),
            request_timeout: Duration::from_secs(15),
            settle: Duration::from_millis(150),
            empty: Duration::from_millis(500),
            documents: 8,
            pending: 8,
            room: Room::default(),
            shelf: Default::default(),
            confinement: Confinement::default(),
            opener: Opener::Memory(memory.clone()),
        };
        let limits = PoolLimits { instances, idle: Duration::from_secs(86_400), budget: Budget::default() };
        Self { pool: Pool::new(starter, limits), temp, memory }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(path)
    }

    /// A definition of the program; `more` are further lines.
    pub(crate) fn entry(&self, more: &str) -> Arc<Entry> {
        let command = self.path("server").display().to_string();
        let text = format!("name = \"a/srv\"\ncommand = {command:?}\nlanguages = [\"python\"]\n{more}");
        let def = toml::from_str(&text).unwrap();
        Arc::new(Entry { def, name: "a/srv".parse().unwrap(), source: Source::Builtin("x"), scope: Scope::User })
    }

    /// Asks for a hover in a file of `root`.
    pub(crate) async fn hover(&self, caller: u64, entry: &Arc<Entry>, root: &str) -> Result<Reply, Shortfall> {
        let root = self.path("ws").join(root);
        let question = Question {
            file: Some(root.join("a.py")),
            language: "python".into(),
            query: Query::Hover { at: Point { line: 0, column: 0 } },
            asked: Instant::now(),
            deadline: Instant::now() + Duration::from_secs(25),
        };
        self.pool.ask(caller, entry, &root, &question).await
    }
}

pub(crate) fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
