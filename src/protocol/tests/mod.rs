//! A server played by the test over in-memory pipes, and a host that writes down what it is told.

mod capabilities;
mod frames;
mod hostile;
mod inbound;
mod outbox;
mod stuck;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::watch;

use super::frames::{Body, FrameLimits, FrameReader};
use super::*;

/// Far more than anything here takes: a test that reaches it has failed.
const SOON: Duration = Duration::from_secs(20);

type Junk = fn(&[u8]);

/// The server's side.
struct Peer {
    output: DuplexStream,
    input: FrameReader<DuplexStream, Junk>,
}

impl Peer {
    async fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.output.write_all(bytes.as_ref()).await.expect("the connection reads");
    }

    async fn body(&mut self, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        self.raw(format!("Content-Length: {}\r\n\r\n", body.len())).await;
        self.raw(body).await;
    }

    async fn send(&mut self, message: &Value) {
        self.body(message.to_string()).await;
    }

    /// The next message from langport.
    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.text().await).expect("JSON")
    }

    /// The same as it is written.
    async fn text(&mut self) -> String {
        match soon(self.input.next()).await.expect("a message") {
            Body::Whole(body) => String::from_utf8(body).expect("UTF-8"),
            Body::Large(length) => panic!("{length} bytes are kept"),
        }
    }

    /// Reads a request and answers it; gives its id.
    async fn answer(&mut self, result: &Value) -> u64 {
        let request = self.next().await;
        let id = request["id"].as_u64().expect("a request");
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
        id
    }

    /// Asks something and reads the answer.
    async fn ask(&mut self, id: Value, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Reads until langport has closed its end, and drops that.
    async fn drained(mut self) {
        while soon(self.input.next()).await.is_ok() {}
    }
}

/// Writes down what it is told.
struct Recorder {
    told: Mutex<Vec<Told>>,
    count: watch::Sender<usize>,
    panics: AtomicUsize,
}

impl Host for Recorder {
    fn told(&self, what: Told) {
        if self.panics.load(Relaxed) > 0 {
            self.panics.fetch_sub(1, Relaxed);
            panic!("the host fails");
        }
        self.told.lock().expect("no panic").push(what);
        self.count.send_modify(|count| *count += 1);
    }

    fn configuration(&self, section: Option<&str>, scope: Option<&str>) -> Value {
        match section {
            Some("set") => json!({ "value": 1, "scope": scope }),
            None => json!("everything"),
            Some(_) => Value::Null,
        }
    }

    fn folders(&self) -> Vec<(String, String)> {
        vec![("file:///w".to_owned(), "w".to_owned())]
    }

    fn reply(&self, method: &str, params: &Value) -> Option<Value> {
        (method == "custom/known").then(|| json!([params]))
    }

    fn apply_edit(&self, params: &[u8]) -> Result<(), String> {
        if params.starts_with(br#"{"label":"wanted""#) { Ok(()) } else { Err("nobody asked for it".to_owned()) }
    }
}

impl Recorder {
    async fn wait_for(&self, count: usize) -> Vec<Told> {
        soon(self.count.subscribe().wait_for(|told| *told >= count)).await.expect("the host lives");
        self.all()
    }

    fn all(&self) -> Vec<Told> {
        self.told.lock().expect("no panic").clone()
    }
}

struct Rig {
    connection: Connection,
    peer: Peer,
    host: Arc<Recorder>,
}

impl Rig {
    fn new() -> Self {
        Self::with(WireLimits::default(), 64 * 1024)
    }

    fn with(limits: WireLimits, pipe: usize) -> Self {
        Self::within(&Room::default(), limits, pipe)
    }

    fn within(room: &Room, limits: WireLimits, pipe: usize) -> Self {
        let (output, their_input) = duplex(pipe);
        let (their_output, input) = duplex(pipe);
        let host =
            Arc::new(Recorder { told: Mutex::default(), count: watch::Sender::new(0), panics: AtomicUsize::new(0) });
        let streams = Streams { input: Box::new(input), output: Box::new(output), unread: None };
        let connection = Connection::open(streams, Arc::<Recorder>::clone(&host), limits, room);
        let generous = FrameLimits { header: 8192, body: usize::MAX, keep: usize::MAX, junk: 0 };
        let input: FrameReader<_, Junk> = FrameReader::new(their_input, generous, |_: &[u8]| panic!("junk"));
        Self { connection, peer: Peer { output: their_output, input }, host }
    }

    fn ask(&self, method: &str) -> Pending {
        self.connection.request(method, &json!({}), SOON).expect("an open connection")
    }

    /// Proves that the connection still works.
    async fn is_alive(&mut self) {
        let pending = self.ask("alive");
        self.peer.answer(&json!("yes")).await;
        assert_eq!(soon(pending).await.expect("an answer").result(), b"\"yes\"");
        self.peer.ask(json!(99), "window/workDoneProgress/create", &json!({ "token": "alive" })).await;
    }
}

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, what).await.expect("in time")
}

fn log(text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "window/logMessage", "params": { "type": 4, "message": text } })
}
