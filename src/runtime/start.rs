//! Starts a session: program, pipes or socket, handshake. Bounded by one deadline; whatever fails takes the process
//! with it and says why, with the server's own last words.

use std::{
    net::{SocketAddr, ToSocketAddrs},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use crate::{
    protocol::{
        CloseReason, Connection, Effective, RequestError, Room, Streams, WireLimits, client_capabilities,
        positions::Encoding,
    },
    registry::{self, Confinement, Entry, Launch, LaunchError, LineEnds, Surroundings, Transport},
    sys::{
        files,
        process::{self, Running, Spawn},
        unread::Unread,
    },
};

use super::{
    background,
    commands::Commands,
    documents::Documents,
    event::Events,
    folders::{Folders, named},
    ground::Ground,
    heard::{Heard, Settings},
    reach::Sight,
    readiness::Rule,
    session::{Desk, STDERR_LINES, Session, SessionLimits},
    shelf::Shelf,
    shortfall::Shortfall,
    signs::Signs,
    stderr::StderrRing,
    stop::LAST_WORDS,
    turns::Turns,
    work::WorkRule,
};

/// What every start needs.
#[derive(Debug, Clone)]
pub struct Starter {
    pub ground: Arc<Ground>,
    pub around: Surroundings,
    /// Spawn and handshake together.
    pub start_timeout: Duration,
    /// The whole shutdown ladder.
    pub shutdown: Duration,
    pub request_timeout: Duration,
    pub settle: Duration,
    pub empty: Duration,
    pub documents: usize,
    pub pending: usize,
    /// For the large messages of all servers.
    pub room: Room,
    /// For the problems that all servers tell of.
    pub shelf: Shelf,
    pub(crate) opener: Opener,
    /// What holds for every process.
    pub confinement: Confinement,
}

/// How a server's streams are opened.
#[derive(Debug, Clone, Default)]
pub(crate) enum Opener {
    /// As its definition says: a process, or a socket.
    #[default]
    Real,
    /// By a test, in memory.
    #[cfg(test)]
    Memory(super::tests::Memory),
}

static SESSIONS: AtomicU64 = AtomicU64::new(1);

/// Pause between two attempts to connect to a server that was just spawned.
const CONNECT: Duration = Duration::from_millis(100);

/// Starts `entry` for `root`. `starts` counts the processes.
pub(super) async fn start(
    starter: &Arc<Starter>,
    entry: &Arc<Entry>,
    root: &Path,
    starts: &AtomicU64,
    events: &Events,
) -> Result<Arc<Session>, Shortfall> {
    let began = Instant::now();
    let started_ns = files::now_ns();
    let home = files::inode(root).ok_or_else(|| Shortfall::Homeless(root.to_owned()))?;
    let launch = registry::resolve(entry, root, &starter.around)
        .and_then(|launch| registry::confine(launch, entry, starter.confinement, &starter.around))
        .map_err(launch_shortfall)?;
    let rule = rule(entry)?;
    let listens = globs("watch.files", &entry.def.watch.files)?;
    let work = work_rule(entry)?;
    let restarts = globs("watch.restart", &entry.def.watch.restart)?;
    let stderr = Arc::new(StderrRing::default());
    let failed = |reason: String, left: bool| Shortfall::NotStarted {
        command: launch.command(),
        reason,
        stderr: stderr.last(STDERR_LINES),
        hint: entry.def.install.hint.clone(),
        left,
    };
    let opening = open(&starter.opener, &launch, &stderr, starts, began + starter.start_timeout);
    let (streams, process) = match timeout(starter.start_timeout, opening).await {
        Ok(opened) => opened.map_err(|reason| failed(reason, false))?,
        Err(_) => return Err(failed(slow(starter), false)),
    };
    let folder = named(root);
    let settings = Settings { tree: launch.settings.clone(), replies: launch.replies.clone().into_iter().collect() };
    let (folders, board) = (vec![folder.clone()], starter.shelf.board());
    let heard = Arc::new(Heard::new(entry.clone(), rule, work, settings, folders, events.clone(), board));
    // The watcher's changes from here on are told: the server reads the project itself from now.
    let seen = starter.ground.watcher.head();
    let limits = WireLimits { pending: starter.pending, ..WireLimits::default() };
    let wire = Connection::open(streams, heard.clone(), limits, &starter.room);
    let params = initialize(&launch, root, &folder);
    let left = (began + starter.start_timeout).saturating_duration_since(Instant::now());
    let answer = match wire.request("initialize", &params, left) {
        Ok(pending) => pending.await,
        Err(error) => Err(error),
    };
    let result = match answer {
        Ok(response) => Effective::from_initialize(response.result())
            .map_err(|error| (format!("its answer to initialize cannot be used: {error}"), None)),
        Err(error) => Err(handshake_failure(starter, &launch, error, process.as_ref()).await),
    };
    let result = match result {
        Ok(result) => result,
        Err((reason, said)) => {
            // Before its pipes are closed: many end as if all were well when nobody listens any more.
            let left = process.as_ref().and_then(Running::exit).is_some_and(|exit| exit.code == Some(0));
            wire.close();
            if let Some(process) = &process {
                process.kill();
                stderr.settled(LAST_WORDS).await;
            }
            let mut failure = failed(reason, left);
            if let Shortfall::NotStarted { stderr, .. } = &mut failure {
                stderr.splice(0..0, said);
            }
            return Err(failure);
        }
    };
    let encoding = {
        let mut record = heard.record();
        record.effective.set_static(result);
        record.readiness.restart_clock(Instant::now());
        match entry.def.line_ends {
            LineEnds::Lsp => record.effective.encoding(),
            LineEnds::Ecmascript => Encoding::EcmaScript,
        }
    };
    let died = |_| failed("it closed its connection during the handshake".into(), false);
    wire.notify("initialized", &json!({})).map_err(died)?;
    if !launch.settings.is_empty() {
        wire.notify("workspace/didChangeConfiguration", &json!({"settings": launch.settings.tree()})).map_err(died)?;
    }
    let diagnostics = &entry.def.diagnostics;
    let session = Arc::new(Session {
        number: SESSIONS.fetch_add(1, Ordering::Relaxed),
        entry: entry.clone(),
        root: root.to_owned(),
        home,
        launch,
        wire,
        heard,
        encoding,
        started: began,
        started_ns,
        handshake: began.elapsed(),
        stderr,
        process,
        limits: SessionLimits {
            request_timeout: starter.request_timeout,
            settle: diagnostics.settle_ms.map_or(starter.settle, Duration::from_millis),
            empty: diagnostics.empty_ms.map_or(starter.empty, Duration::from_millis),
            documents: starter.documents,
        },
        listens,
        restarts,
        desk: Mutex::new(Desk { documents: Documents::new(starter.documents), seen, followed: None, ending: false }),
        agreed: AtomicBool::new(false),
        last_used: Mutex::new(Instant::now()),
        in_use: AtomicU64::new(0),
        // Each question keeps its file open.
        turns: Turns::new((starter.pending * 3 / 4).min(starter.documents)),
        signs: Signs::default(),
        sight: Sight::default(),
        folders: Folders::new(root),
        around: starter.around.clone(),
        commands: Commands::default(),
    });
    background::follow(&session, &starter.ground);
    Ok(session)
}

fn launch_shortfall(error: LaunchError) -> Shortfall {
    match error {
        LaunchError::NotInstalled { command, searched, getting } => {
            Shortfall::NotInstalled { command, searched, getting }
        }
        LaunchError::NoProgram { path, flaw } => Shortfall::NoProgram { path, flaw },
        LaunchError::Executes => Shortfall::Untrusted(error.to_string()),
        LaunchError::Untrusted { .. } | LaunchError::Expand { .. } | LaunchError::Invalid { .. } => {
            Shortfall::Definition(error.to_string())
        }
    }
}

fn slow(starter: &Starter) -> String {
    format!("no answer to initialize within {} s", starter.start_timeout.as_secs())
}

/// The readiness rule of a definition. Where nothing tells readiness, project-wide answers have to agree.
fn rule(entry: &Entry) -> Result<Rule, Shortfall> {
    let ready = &entry.def.ready;
    let regex = |pattern: &Option<String>| {
        pattern
            .as_deref()
            .map(regex::Regex::new)
            .transpose()
            .map_err(|error| Shortfall::Definition(format!("ready: {error}")))
    };
    let rule = Rule {
        log: regex(&ready.log)?,
        notification: ready.notification.as_ref().map(|n| (n.method.clone(), n.field.clone())),
        progress: regex(&ready.progress)?,
        refresh: ready.refresh,
        standing: regex(&ready.standing)?,
        grace: Duration::from_millis(ready.grace_ms),
        timeout: Duration::from_millis(ready.timeout_ms),
        again: globs("ready.again", &ready.again)?,
        again_within: Duration::from_millis(ready.again_ms),
        agree: true,
    };
    let agree = ready.agree || !rule.has_signal();
    Ok(Rule { agree, ..rule })
}

/// How a definition's server tells of its work at single files.
fn work_rule(entry: &Entry) -> Result<Option<WorkRule>, Shortfall> {
    let Some(work) = &entry.def.diagnostics.work else { return Ok(None) };
    let working = regex::Regex::new(&work.working)
        .map_err(|error| Shortfall::Definition(format!("diagnostics.work: {error}")))?;
    Ok(Some(WorkRule { method: work.method.clone(), field: work.field.clone(), working }))
}

fn globs(field: &str, patterns: &[String]) -> Result<GlobSet, Shortfall> {
    let wrong = |error: globset::Error| Shortfall::Definition(format!("{field}: {error}"));
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(wrong)?);
    }
    set.build().map_err(wrong)
}

/// Opens the streams of a server: its pipes, or a socket to it.
async fn open(
    opener: &Opener,
    launch: &Launch,
    stderr: &Arc<StderrRing>,
    starts: &AtomicU64,
    deadline: Instant,
) -> Result<(Streams, Option<Running>), String> {
    match opener {
        Opener::Real => {}
        #[cfg(test)]
        Opener::Memory(memory) => {
            starts.fetch_add(1, Ordering::Relaxed);
            return memory.open().map(|streams| (streams, None));
        }
    }
    let socket = match (launch.transport, &launch.address) {
        (Transport::Stdio, _) => None,
        (Transport::Tcp, Some(address)) => Some(loopback(address)?),
        (Transport::Tcp, None) => return Err("its definition has the transport tcp, but no address".into()),
    };
    if let Some(socket) = socket
        && let Ok(stream) = TcpStream::connect(socket).await
    {
        // It runs already, started by somebody else: it is used, and never ended.
        starts.fetch_add(1, Ordering::Relaxed);
        return Ok((of_socket(stream), None));
    }
    let spawn = Spawn {
        program: launch.program.clone(),
        args: launch.args.clone(),
        cwd: launch.cwd.clone(),
        env: process::allowed_env(&launch.pass_env, &launch.env),
        bounds: launch.bounds,
    };
    let mut running = process::spawn(spawn).await.map_err(|error| error.to_string())?;
    starts.fetch_add(1, Ordering::Relaxed);
    if let Some(pipe) = running.take_stderr() {
        stderr.follow(pipe);
    }
    let Some(socket) = socket else {
        let (Some(input), Some(output)) = (running.take_stdout(), running.take_stdin()) else {
            return Err("its pipes could not be opened".into());
        };
        let unread = Unread::of(&input).ok();
        return Ok((Streams { input: Box::new(input), output: Box::new(output), unread }, Some(running)));
    };
    // Many say on stdout where they listen, or log there: unread, a full pipe would stop them.
    if let Some(pipe) = running.take_stdout() {
        stderr.follow(pipe);
    }
    loop {
        match TcpStream::connect(socket).await {
            Ok(stream) => return Ok((of_socket(stream), Some(running))),
            Err(error) if Instant::now() >= deadline => return Err(format!("no connection to {socket}: {error}")),
            Err(_) => {
                if let Some(exit) = running.exit() {
                    return Err(process::explain_exit(&launch.program, exit));
                }
                sleep(CONNECT).await;
            }
        }
    }
}

fn of_socket(stream: TcpStream) -> Streams {
    let _ = stream.set_nodelay(true);
    let unread = Unread::of(&stream).ok();
    let (input, output) = stream.into_split();
    Streams { input: Box::new(input), output: Box::new(output), unread }
}

fn loopback(address: &str) -> Result<SocketAddr, String> {
    let mut found = address.to_socket_addrs().map_err(|error| format!("address {address:?}: {error}"))?;
    found.find(|socket| socket.ip().is_loopback()).ok_or_else(|| format!("address {address:?} is not on this machine"))
}

fn initialize(launch: &Launch, root: &Path, folder: &(String, String)) -> Value {
    let extra = (!launch.client_capabilities.is_empty()).then(|| Value::Object(launch.client_capabilities.clone()));
    let mut params = json!({
        // Servers end once they no longer see this process: one that sees no other is told of none.
        "processId": launch.sees_langport.then(std::process::id),
        "clientInfo": {"name": "langport", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": folder.0,
        // Deprecated, and still what some servers read.
        "rootPath": root.to_string_lossy(),
        "workspaceFolders": [{"uri": folder.0, "name": folder.1}],
        "capabilities": client_capabilities(extra.as_ref()),
        "trace": "off",
    });
    if launch.initialization != Value::Null {
        params["initializationOptions"] = launch.initialization.clone();
    }
    params
}

/// Why there was no answer to `initialize`, and the server's own words about it.
async fn handshake_failure(
    starter: &Starter,
    launch: &Launch,
    error: RequestError,
    process: Option<&Running>,
) -> (String, Option<String>) {
    let reason = match error {
        RequestError::Timeout { .. } => slow(starter),
        RequestError::Server { code, message, .. } => {
            return (format!("it refused initialize with error {code}"), Some(message));
        }
        RequestError::Closed(reason) => {
            let exit = match process {
                Some(process) => process.fate(super::stop::STATUS).await,
                None => None,
            };
            let ended = exit.map(|exit| process::explain_exit(&launch.program, exit));
            match (ended, &reason) {
                (None, _) => reason.to_string(),
                // Many end by themselves once they are not listened to any more: that alone says nothing.
                (Some(ended), CloseReason::Frame(_) | CloseReason::Deaf(_)) => format!("{reason}, and {ended}"),
                (Some(ended), _) => ended,
            }
        }
        other => other.to_string(),
    };
    (reason, None)
}
