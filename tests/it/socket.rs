//! Servers that are reached over a socket: started and waited for, or found running and left running.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};

use crate::{
    fake::{
        SCRIPT,
        script::{Act, Script},
    },
    support::{Definition, Langport, Log, Workspace, eventually, procs},
};

trials![
    x26_a_server_is_started_and_waited_for,
    x26_a_server_that_never_listens_has_its_time,
    x26_a_server_that_was_running_is_left_running,
    x26_what_is_printed_beside_the_wire_stops_nothing,
    x26_only_this_machine_is_spoken_to,
];

fn at() -> Value {
    json!({"file_path": "a.py", "line": 1, "column": 1})
}

/// An address that no other test of any run uses: a loopback address made of this process's id.
fn address(port: u16) -> String {
    let id = std::process::id();
    format!("127.{}.{}.{}:{port}", 1 + (id >> 16) % 250, (id >> 8) & 255, (id & 255).max(1))
}

fn listening(address: &str, script: Script) -> Definition {
    let script = Script { address: Some(address.to_owned()), ..script };
    Definition::new("fake", script).key(&format!("transport = \"tcp\"\naddress = \"{address}\""))
}

fn x26_a_server_is_started_and_waited_for() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let lp = Langport::builder(&ws).server(listening(&address(7701), Script::new())).start();
    lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    let pid = lp.log().pids()[0];
    lp.tool("status", &json!({"server": "fake", "restart": true})).fine();
    eventually("the end of the first one", || (!procs::alive(pid)).then_some(()));
    lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    assert_eq!(lp.log().starts(), 2);
    assert_eq!((lp.log().count("shutdown"), lp.log().count("exit")), (1, 1), "one of our own is asked to go");
}

fn x26_a_server_that_never_listens_has_its_time() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let deaf =
        Definition::new("fake", Script::new()).key(&format!("transport = \"tcp\"\naddress = \"{}\"", address(7702)));
    let mut lp = Langport::builder(&ws)
        .server(deaf)
        .server(Definition::new("good", Script::new()).languages(&["go"]))
        .config("start_timeout_ms = 5000")
        .max_wait(15_000)
        .start();
    lp.tolerate();
    let told = lp.hover(&at());
    assert!(told.is_error, "{told}");
    told.verdict_in(&["unavailable", "failed"]).contains("fake");
    lp.hover(&json!({"file_path": "b.go", "line": 1, "column": 1})).verdict_is("fresh");
    // One that ends at once is not waited for.
    drop(lp);
    let key = format!("transport = \"tcp\"\naddress = \"{}\"", address(7703));
    let gone = Definition::command("fake", "/bin/false").key(&key);
    let mut lp = Langport::builder(&ws).server(gone).start();
    lp.tolerate();
    let begun = std::time::Instant::now();
    let told = lp.hover(&at());
    assert!(told.is_error && begun.elapsed().as_secs() < 15, "{told}");
}

/// A server that somebody else runs: it takes any number of clients, each with a fake of its own.
struct Daemon {
    address: String,
    log: Log,
    clients: Arc<AtomicUsize>,
}

impl Daemon {
    fn new(ws: &Workspace, address: &str, script: Script) -> Self {
        let log = ws.home().join("daemon.log");
        let script = Script { log: log.clone(), ..script };
        let file = ws.home().join("daemon.script.json");
        std::fs::write(&file, serde_json::to_vec(&script).unwrap()).unwrap();
        let listener = TcpListener::bind(address).expect("an address of our own");
        let clients = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&clients);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut fake = Command::new(std::env::current_exe().unwrap())
                    .env(SCRIPT, &file)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap();
                let (input, output) = (fake.stdin.take().unwrap(), fake.stdout.take().unwrap());
                let back = client.try_clone().unwrap();
                let ended = client.try_clone().unwrap();
                std::thread::spawn(move || pass(output, back));
                std::thread::spawn(move || {
                    pass(client, input);
                    let _ = fake.wait();
                    let _ = ended.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address: address.to_owned(), log: Log::new(&log), clients }
    }
}

/// Bytes as they come.
fn pass(mut from: impl Read, mut to: impl Write) {
    let mut buffer = [0; 8192];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..read]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn x26_a_server_that_was_running_is_left_running() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let daemon = Daemon::new(&ws, &address(7704), Script::new());
    // What would be started leaves a mark.
    let mark = ws.home().join("ran");
    let stand_in = ws.home().join("stand-in");
    std::fs::write(&stand_in, format!("#!/bin/sh\n: > '{}'\n", mark.display())).unwrap();
    std::fs::set_permissions(&stand_in, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let definition = Definition::command("fake", &stand_in.to_string_lossy())
        .key(&format!("transport = \"tcp\"\naddress = \"{}\"", daemon.address));
    let mut lp = Langport::builder(&ws).server(definition).start();
    lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    lp.tool("status", &json!({"server": "fake", "restart": true})).fine();
    lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    assert_eq!(daemon.clients.load(Ordering::SeqCst), 2, "a new connection, to the same server");
    assert_eq!(lp.hang_up().and_then(|status| status.code()), Some(0));
    eventually("the end of both clients", || (daemon.log.count("shutdown") == 2).then_some(()));
    assert_eq!(daemon.log.count("exit"), 0, "it is not asked to end");
    // It serves the next one.
    let mut next = TcpStream::connect(&daemon.address).expect("it is still there");
    next.write_all(b"Content-Length: 58\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}")
        .unwrap();
    let mut first = [0; 16];
    next.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"Content-Length: ");
    drop(next);
    eventually("the end of its clients", || daemon.log.pids().iter().all(|pid| !procs::alive(*pid)).then_some(()));
    assert!(!mark.exists(), "nothing was started beside it");
}

fn x26_what_is_printed_beside_the_wire_stops_nothing() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    // More than a pipe holds, on both of its pipes, before it listens.
    let wrapper = ws.home().join("chatty");
    let this = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' 'o'\nhead -c 300000 /dev/zero | tr '\\0' 'e' >&2\nexec '{}'\n",
        this.display()
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let fake = listening(&address(7705), Script::new()).with_command(&wrapper.to_string_lossy());
    let lp = Langport::builder(&ws).server(fake).env("PATH", "/usr/bin:/bin").start();
    lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    let status = lp.tool("status", &json!({"server": "fake"}));
    assert!(status.fine().text.chars().count() <= 8_000, "{status}");
}

fn x26_only_this_machine_is_spoken_to() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    // Also where a variable says so, which is known only when it is started.
    let definition = Definition::new("fake", Script::new().on("start", [Act::Exit(3)]))
        .key("transport = \"tcp\"\naddress = \"${ELSEWHERE}:7706\"");
    let lp = Langport::builder(&ws).server(definition).env("ELSEWHERE", "192.0.2.1").start();
    lp.hover(&at()).fails("unavailable").contains("192.0.2.1:7706");
    assert_eq!(lp.log().starts(), 0, "nothing was started");
}
