//! Without a `main` that offers a watchdog these run in the process group way.

use std::os::unix::fs::PermissionsExt;

use expect_test::{Expect, expect};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::sys::files;

fn sh(script: &str) -> Spawn {
    Spawn {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("GREETING".into(), "hello".into())],
        bounds: Bounds::default(),
    }
}

async fn text(pipe: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut text = String::new();
    pipe.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn pipes_environment_and_exit() {
    let mut running = spawn(sh("read line; echo $line $GREETING; env | cut -d= -f1 | sort | tr '\\n' ' ' >&2; exit 3"))
        .await
        .unwrap();
    assert!(running.pid() > 0);
    running.take_stdin().unwrap().write_all(b"x\n").await.unwrap();
    assert!(running.take_stdin().is_none());
    let out = text(&mut running.take_stdout().unwrap()).await;
    let err = text(&mut running.take_stderr().unwrap()).await;
    let exit = running.ended(Duration::from_secs(20)).await.unwrap();
    expect![[r#"
        x hello
        | GREETING PATH PWD  | Exit { code: Some(3), signal: None, memory_mb: None }"#]]
    .assert_eq(&format!("{out}| {err} | {exit:?}"));
}

#[tokio::test]
async fn both_pipes_full_do_not_block_the_start_or_the_end() {
    let mut running = spawn(sh("yes >&2 & yes; wait")).await.unwrap();
    let mut byte = [0];
    running.take_stdout().unwrap().read_exact(&mut byte).await.unwrap();
    running.take_stderr().unwrap().read_exact(&mut byte).await.unwrap();
    running.stop(Duration::ZERO).await;
    assert!(running.exit().is_some());
}

#[tokio::test]
async fn stop_asks_first_and_then_kills_what_ignores_it() {
    let mut polite = spawn(sh("trap 'exit 5' TERM; echo up; while :; do read x || sleep 0.01; done")).await.unwrap();
    let mut deaf = spawn(sh("trap '' TERM; (trap '' TERM; echo up; sleep 100)")).await.unwrap();
    for running in [&mut polite, &mut deaf] {
        running.stdout.as_mut().unwrap().read_exact(&mut [0; 3]).await.unwrap();
    }
    polite.stop(Duration::from_secs(5)).await;
    assert_eq!(polite.exit(), Some(Exit { code: Some(5), ..Exit::default() }));
    let mut out = deaf.take_stdout().unwrap();
    deaf.stop(Duration::from_millis(20)).await;
    assert_eq!(deaf.exit(), Some(Exit { signal: Some(9), ..Exit::default() }));
    // The end of the pipe proves that the grandchild, which had it too, is gone.
    assert_eq!(text(&mut out).await, "");
}

#[tokio::test]
async fn dropping_kills_grandchildren_in_their_own_sessions() {
    let mut running =
        spawn(sh("(trap '' TERM HUP; setsid sleep 100) & (trap '' TERM; sleep 100) & echo up; wait")).await.unwrap();
    let mut out = running.take_stdout().unwrap();
    out.read_exact(&mut [0; 3]).await.unwrap();
    drop(running);
    assert_eq!(text(&mut out).await, "");
}

struct Broken(tempfile::TempDir);

impl Broken {
    async fn check(&self, name: &str, content: &str, mode: u32, cwd: &str, expected: &Expect) {
        let path = self.0.path().join(name);
        if !content.is_empty() {
            files::write(&path, content.as_bytes()).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let error = spawn(Spawn { program: path, cwd: cwd.into(), ..sh("") }).await.unwrap_err();
        expected.assert_eq(&error.to_string().replace(self.0.path().to_str().unwrap(), "TMP"));
    }
}

#[tokio::test]
async fn what_cannot_be_executed_is_an_error_and_says_why() {
    let b = Broken(tempfile::tempdir().unwrap());
    b.check("none", "", 0, "/", &expect!["no such file"]).await;
    b.check("plain", "x", 0o644, "/", &expect!["it, or the interpreter that its first line names, is not executable"])
        .await;
    b.check(
        "shebang",
        "#!/no/such\n",
        0o755,
        "/",
        &expect!["its first line names the interpreter `/no/such`, which is not there"],
    )
    .await;
    b.check(
        "text",
        "echo hello\n",
        0o755,
        "/",
        &expect!["it is no program for this machine, and no script with a `#!` line"],
    )
    .await;
    b.check(".", "", 0, "/", &expect!["it is a folder"]).await;
    b.check("sh", "#!/bin/sh\n", 0o755, "/no/such", &expect!["no such folder: /no/such"]).await;
}

#[tokio::test]
async fn niceness_no_core_and_a_folder_of_its_own_that_goes_with_it() {
    let tmp = tempfile::tempdir().unwrap();
    let script = "nice; ulimit -S -c; touch \"$TMPDIR/left\"; echo \"$TMPDIR\"";
    let mut spawned = sh(script);
    spawned.env.push(("TMPDIR".into(), tmp.path().to_str().unwrap().into()));
    spawned.bounds = Bounds { nice: Some(7), scratch: true, ..Bounds::default() };
    let mut running = spawn(spawned).await.unwrap();
    let out = text(&mut running.take_stdout().unwrap()).await;
    running.stop(Duration::from_secs(5)).await;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..2], ["7", "0"], "{out}");
    assert!(lines[2].starts_with(&format!("{}/langport-", tmp.path().display())), "{out}");
    assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 0);
}
