//! How the fake carries out the steps of its script.

use std::{
    path::Path,
    process::Stdio,
    sync::{Arc, mpsc::channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    Fake, lock,
    script::{Act, Ask, Step},
};

/// Waits for a file that the test creates.
pub(super) fn wait_for(gate: &Path) {
    while !gate.exists() {
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// The script's words for what only the message knows.
fn fill(value: &Value, uri: &str, root: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("$uri", uri).replace("$root", root)),
        Value::Array(items) => items.iter().map(|v| fill(v, uri, root)).collect(),
        Value::Object(map) => {
            map.iter().map(|(k, v)| (k.replace("$uri", uri).replace("$root", root), fill(v, uri, root))).collect()
        }
        other => other.clone(),
    }
}

impl Fake {
    /// Answers with a result whose text has so many bytes, a piece at a time.
    fn large(&self, id: Option<&Value>, head: &str, bytes: usize, tail: &str) {
        let id = id.map(ToString::to_string).unwrap_or_default();
        let (head, tail) = (format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{head}"#), format!("{tail}}}"));
        let piece = "long hover ".repeat(100_000);
        let pieces = bytes / piece.len();
        let length = head.len() + pieces * piece.len() + tail.len();
        let head = format!("Content-Length: {length}\r\n\r\n{head}");
        let all = std::iter::repeat_n(piece.as_bytes(), pieces);
        self.all_bytes([head.as_bytes()].into_iter().chain(all).chain([tail.as_bytes()]));
    }

    /// Tells of so many problems, each at a column of its own: as the answer to a pull, or pushed for the document. Written
    /// as it comes: to make values of so many would take longer than to send them.
    fn flood(&self, params: &Value, id: Option<&Value>, uri: &str, number: usize, told: impl Fn(usize) -> String) {
        let items = (0..number).map(|n| {
            let place = format!(r#"{{"line":0,"character":{n}}}"#);
            format!(r#"{{"range":{{"start":{place},"end":{place}}},{}}}"#, told(n))
        });
        let items = items.collect::<Vec<String>>().join(",");
        let body = match id {
            Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"kind":"full","items":[{items}]}}}}"#),
            None => format!(
                r#"{{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{{"uri":"{uri}","version":{},"diagnostics":[{items}]}}}}"#,
                params["textDocument"]["version"]
            ),
        };
        self.bytes(super::wire::frame(&body).as_bytes());
    }

    /// Does what the script says for this method, beside the reading loop where it has to wait.
    pub(super) fn moment(self: &Arc<Self>, method: &str, params: &Value, id: Option<&Value>) {
        let turn = self.turn(method);
        let acts = match self.script.on.get(method) {
            Some(turns) if !turns.is_empty() => turns[turn.min(turns.len() - 1)].clone(),
            _ => vec![Act::Default],
        };
        let waits = acts.iter().any(|a| match a {
            Act::Sleep(_) | Act::Await(_) | Act::Drip(..) => true,
            Act::Ask(ask) => !ask.block,
            _ => false,
        });
        let starting = method == "start";
        let (fake, method, params, id) = (Arc::clone(self), method.to_owned(), params.clone(), id.cloned());
        let work = move || {
            for act in &acts {
                if !fake.act(act, &method, &params, id.as_ref()) {
                    break;
                }
            }
        };
        if waits && !starting {
            std::thread::spawn(work);
        } else {
            work();
        }
    }

    fn reply(&self, id: Option<&Value>, result: &Value) {
        if let Some(id) = id {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
    }

    fn fail(&self, id: Option<&Value>, code: i64, message: &str) {
        if let Some(id) = id {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
        }
    }

    fn by_itself(&self, method: &str, params: &Value, id: Option<&Value>) {
        if id.is_none() {
            return;
        }
        match self.scene(|s| s.answer(method, params)) {
            Some(Ok(result)) => self.reply(id, &result),
            Some(Err((code, message))) => self.fail(id, code, &message),
            None => {}
        }
    }

    /// One step; false ends the behaviour.
    fn act(self: &Arc<Self>, act: &Act, method: &str, params: &Value, id: Option<&Value>) -> bool {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let root = lock(&self.root)
            .as_ref()
            .and_then(|r| url::Url::from_file_path(r).ok())
            .map(String::from)
            .unwrap_or_default();
        match act {
            Act::Reply(value) => self.reply(id, &fill(value, uri, &root)),
            Act::Fail(code, message) => self.fail(id, *code, message),
            Act::Default => self.by_itself(method, params, id),
            Act::FirstStarts(n) => {
                if self.start > *n {
                    self.by_itself(method, params, id);
                    return false;
                }
            }
            Act::Starts(first, last) => {
                if !(*first..=*last).contains(&self.start) {
                    self.by_itself(method, params, id);
                    return false;
                }
            }
            Act::Sleep(ms) => std::thread::sleep(Duration::from_millis(*ms)),
            Act::Await(gate) => wait_for(gate),
            Act::Locations(count) => self.reply(id, &many(uri, *count)),
            Act::Hover(bytes) => {
                self.reply(id, &json!({"contents": {"kind": "plaintext", "value": "long hover ".repeat(bytes / 11)}}));
            }
            Act::LargeHover(bytes) => self.large(id, r#"{"contents":""#, *bytes, "\"}"),
            Act::LargeRename(bytes) => {
                let range = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":5}}"#;
                let uri = &params["textDocument"]["uri"];
                let head = format!(r#"{{"changes":{{{uri}:[{{"range":{range},"newText":""#);
                self.large(id, &head, *bytes, "\"}]}}");
            }
            Act::Pieces { head, piece, times, tail } => {
                let head = head.replace("$id", &id.map(ToString::to_string).unwrap_or_default());
                let length = head.len() + piece.len() * times + tail.len();
                let head = format!("Content-Length: {length}\r\n\r\n{head}");
                let (many, some) = (if *times < 1_000 { 0 } else { 1_000 }, times % 1_000);
                let (whole, rest) = (piece.repeat(many), format!("{}{tail}", piece.repeat(some)));
                let pieces = std::iter::repeat_n(whole.as_bytes(), times / 1_000);
                self.all_bytes([head.as_bytes()].into_iter().chain(pieces).chain([rest.as_bytes()]));
            }
            Act::Completions(count, docs) => {
                let items = (0..*count)
                    .map(|i| json!({"label": format!("item_{i:06}"), "kind": 3, "documentation": "d".repeat(*docs)}));
                self.reply(id, &items.collect());
            }
            Act::Growing(token) => self.growing(token, params, id),
            Act::Exit(code) => std::process::exit(*code),
            // SAFETY: a signal to this very process.
            Act::Die => unsafe {
                libc::kill(libc::getpid(), libc::SIGKILL);
            },
            Act::Ask(ask) => self.ask(ask, &root),
            Act::Tell(name, value) => {
                if name == "$/progress" && value["value"]["kind"] == "end" {
                    lock(&self.ended).push(value["token"].as_str().unwrap_or_default().to_owned());
                }
                self.send(&json!({"jsonrpc": "2.0", "method": name, "params": fill(value, uri, &root)}));
            }
            Act::Raw(text) => self.bytes(text.as_bytes()),
            Act::RawReply(text) => {
                let id = id.map(ToString::to_string).unwrap_or_default();
                let text = text.replace("$id", &id);
                let parts: Vec<&[u8]> = text.split("$bad").map(str::as_bytes).collect();
                let body = parts.join(&b"\xff\xc3\x28"[..]);
                self.bytes(&[format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat());
            }
            Act::Headed(head) => {
                let Some(Ok(result)) = self.scene(|s| s.answer(method, params)) else { return true };
                let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
                self.bytes(format!("{}{body}", head.replace("$length", &body.len().to_string())).as_bytes());
            }
            Act::Bytes(bytes) => self.bytes(bytes),
            Act::Drip(text, ms) => {
                for byte in text.as_bytes() {
                    self.bytes(&[*byte]);
                    std::thread::sleep(Duration::from_millis(*ms));
                }
            }
            Act::Eat(mib) => {
                let eaten = vec![7_u8; mib << 20];
                self.event("eaten", json!(eaten.iter().step_by(4096).map(|b| usize::from(*b)).sum::<usize>()));
                std::mem::forget(eaten);
            }
            Act::RawTimes(text, times) => self.bytes(text.repeat(*times).as_bytes()),
            Act::RawCounted(text, times) => {
                let all: String = (0..*times).map(|n| text.replace("$n", &format!("{n:06}"))).collect();
                self.bytes(all.as_bytes());
            }
            Act::Flood { errors, hints, bytes } => {
                let message = "m".repeat(*bytes);
                self.flood(params, id, uri, hints + errors, |n| {
                    format!(r#""severity":{},"message":"{n} {message}""#, if n < *hints { 4 } else { 1 })
                });
            }
            Act::FloodOf(source, errors) => {
                let told = |n| format!(r#""severity":1,"source":"{source}","message":"number {n}""#);
                self.flood(params, id, uri, *errors, told);
            }
            Act::Stderr(text, times) => {
                use std::io::Write as _;
                let _ = std::io::stderr().write_all(format!("{text}\n").repeat(*times).as_bytes());
            }
            // The reading loop knows these by itself.
            Act::StopReading | Act::HoldReading(_) => {}
            Act::Lock(path) => {
                let file = std::fs::File::create(path).expect("a file to lock");
                if file.try_lock().is_err() {
                    eprintln!("{} is locked by another process", path.display());
                    std::process::exit(1);
                }
                std::mem::forget(file);
            }
            Act::Open(gate) => std::fs::write(gate, "").expect("a gate"),
            // SAFETY: descriptors of this very process, which are not used any more.
            Act::CloseOutput => _ = unsafe { libc::close(1) },
            // SAFETY: as above.
            Act::CloseInput => _ = unsafe { libc::close(0) },
            Act::Grandchild => {
                let child = std::process::Command::new("setsid")
                    .args(["-f", "sleep", "600"])
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .status();
                self.event("grandchild", json!(child.is_ok()));
            }
            Act::Daemon => {
                // The session's leader ends before its child does, which no group and no parent leads to then.
                let child = std::process::Command::new("setsid")
                    .args(["-f", "sh", "-c", "trap '' HUP INT TERM; cd /; sleep 700 & exit"])
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                self.event("daemon", json!(child.is_ok()));
            }
            Act::RenameAsChanges => {
                let edit = self.scene(|s| s.rename_as_changes(uri, params));
                self.reply(id, &edit);
            }
            Act::Publish => self.publish(params, true),
        }
        true
    }

    /// Partial answers while the project is loading: one more each time.
    fn growing(&self, token: &str, params: &Value, id: Option<&Value>) {
        let Some(Ok(Value::Array(mut all))) = self.scene(|s| s.answer("textDocument/references", params)) else {
            return;
        };
        if !lock(&self.ended).iter().any(|t| t == token) {
            all.truncate(self.turn("growing") + 1);
        }
        self.reply(id, &Value::Array(all));
    }

    fn ask(&self, ask: &Ask, root: &str) {
        let (answer, answered) = channel();
        lock(&self.asked).insert(ask.id.to_string(), answer);
        let asked = Instant::now();
        self.send(
            &json!({"jsonrpc": "2.0", "id": ask.id, "method": ask.method, "params": fill(&ask.params, "", root)}),
        );
        let Ok(answer) = answered.recv() else { return };
        let took = asked.elapsed().as_secs_f64();
        self.log(json!({"event": "answer", "method": ask.method, "id": ask.id, "answer": answer, "took": took}));
        if ask.exit_on_error && answer.get("error").is_some() {
            std::process::exit(3);
        }
    }

    /// Publishes for the document of this notification.
    pub(super) fn publish(self: &Arc<Self>, params: &Value, changed: bool) {
        let publish = &self.script.publish;
        let steps = publish.change_steps.as_ref().filter(|_| changed).unwrap_or(&publish.steps).clone();
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default().to_owned();
        let Some(document) = lock(&self.mirror).open.get(&uri).cloned() else { return };
        let waits = steps.iter().any(|s| matches!(s, Step::Sleep(_) | Step::Await(_) | Step::AwaitVersion(_)));
        let fake = Arc::clone(self);
        let work = move || {
            for step in &steps {
                let mut list = match step {
                    Step::Sleep(ms) => {
                        let begun = Instant::now();
                        std::thread::sleep(Duration::from_millis(*ms));
                        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                        fake.event("slept", json!({"ms": ms, "over": took.saturating_sub(*ms)}));
                        continue;
                    }
                    Step::Await(gate) => {
                        wait_for(gate);
                        continue;
                    }
                    Step::AwaitVersion(gate) => {
                        wait_for(Path::new(&format!("{}-{}", gate.display(), document.version)));
                        continue;
                    }
                    Step::Begin(title) => {
                        fake.progress(title, &json!({"kind": "begin", "title": title}));
                        continue;
                    }
                    Step::End(title) => {
                        fake.progress(title, &json!({"kind": "end"}));
                        continue;
                    }
                    Step::Empty => Vec::new(),
                    Step::Full | Step::First => fake.scene(|s| s.problems(&document.text, document.version)),
                };
                if matches!(step, Step::First) {
                    list.truncate(1);
                }
                let current = lock(&fake.mirror).open.get(&uri).map(|d| d.version);
                if current != Some(document.version) && !fake.script.publish.outdated {
                    return;
                }
                // Lists of older texts come late, but not behind those of newer ones: a server has one queue.
                let newest = *lock(&fake.published)
                    .entry(uri.clone())
                    .and_modify(|v| *v = document.version.max(*v))
                    .or_insert(document.version);
                if fake.script.publish.outdated && document.version < newest {
                    return;
                }
                if list.is_empty() && fake.script.publish.silent_when_clean {
                    continue;
                }
                let mut params = json!({"uri": uri, "diagnostics": list});
                if fake.script.publish.versioned {
                    params["version"] = json!(document.version);
                }
                fake.send(&json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}));
            }
        };
        if waits {
            std::thread::spawn(work);
        } else {
            work();
        }
    }

    /// Other files changed: open documents that need them are looked at again, as real servers do.
    pub(super) fn publish_dependents(self: &Arc<Self>, _changes: &Value) {
        let open: Vec<String> = {
            let mirror = lock(&self.mirror);
            mirror.open.iter().filter(|(_, d)| d.text.contains("NEEDS ")).map(|(u, _)| u.clone()).collect()
        };
        for uri in open {
            self.publish(&json!({"textDocument": {"uri": uri}}), true);
        }
    }

    fn progress(&self, token: &str, value: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": token, "value": value}}));
    }
}

/// Locations on the first 50 lines of one document, a column each.
fn many(uri: &str, count: usize) -> Value {
    let place = |i: usize| {
        let (line, column) = (i % 50, i / 50);
        json!({"uri": uri, "range": {"start": {"line": line, "character": column}, "end": {"line": line, "character": column + 1}}})
    };
    (0..count).map(place).collect()
}
