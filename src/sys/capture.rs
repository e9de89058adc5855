//! Runs a program whose output is wanted: within a time, up to a size, without a shell or a terminal. What it prints is
//! handed back as it came.
#![expect(clippy::disallowed_methods, reason = "this is one of the places that spawn processes")]

use std::{io, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
    time::timeout,
};

use super::process::Spawn;

/// Bytes of stderr that are kept.
const STDERR: u64 = 4 * 1024;

/// What a program left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub success: bool,
    pub stdout: Vec<u8>,
    /// Its beginning.
    pub stderr: String,
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("it cannot be run: {0}")]
    Io(#[from] io::Error),
    #[error("it took longer than {:.1} s", .0.as_secs_f32())]
    TooSlow(Duration),
    #[error("it printed more than {0} bytes")]
    TooMuch(usize),
}

/// Runs a program to its end with this input. Dropping the future kills it.
///
/// # Errors
/// It cannot be started, takes too long or prints too much; it is killed then.
pub async fn capture(spawn: &Spawn, input: Vec<u8>, limit: usize, longest: Duration) -> Result<Captured, CaptureError> {
    let mut command = Command::new(&spawn.program);
    command.args(&spawn.args).current_dir(&spawn.cwd).env_clear();
    command.envs(spawn.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A program that does not read to the end has its reasons.
                let _ = stdin.write_all(&input).await;
            }
        };
        let (out, err, ()) = tokio::join!(read(stdout, limit as u64 + 1), read_and_drain(stderr), feed);
        let out = out?;
        if out.len() > limit {
            return Err(CaptureError::TooMuch(limit));
        }
        let status = child.wait().await?;
        let stderr = String::from_utf8_lossy(&err).into_owned();
        Ok(Captured { success: status.success(), stdout: out, stderr })
    };
    timeout(longest, work).await.unwrap_or(Err(CaptureError::TooSlow(longest)))
}

/// Reads up to `limit` bytes; the pipe is closed then.
async fn read(pipe: Option<impl AsyncRead + Unpin>, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(limit).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// Reads the beginning, and throws the rest away: a full pipe would keep the program from ending.
async fn read_and_drain(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(mut pipe) = pipe else { return bytes };
    let _ = (&mut pipe).take(STDERR).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::Bounds;

    fn sh(script: &str) -> Spawn {
        Spawn {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: "/".into(),
            env: vec![("GIVEN".into(), "yes".into())],
            bounds: Bounds::default(),
        }
    }

    async fn run(script: &str) -> Result<Captured, CaptureError> {
        capture(&sh(script), b"in".to_vec(), 1_000, Duration::from_secs(5)).await
    }

    #[tokio::test]
    async fn output_input_and_environment() {
        let done = run("cat; echo \"$GIVEN$HOME\"; echo oh >&2; exit 3").await.unwrap();
        assert_eq!(done, Captured { success: false, stdout: b"inyes\n".to_vec(), stderr: "oh\n".into() });
    }

    #[tokio::test]
    async fn neither_too_much_nor_too_long() {
        assert!(matches!(run("yes").await, Err(CaptureError::TooMuch(1_000))));
        let slow = capture(&sh("sleep 9"), Vec::new(), 10, Duration::from_millis(50)).await;
        assert!(matches!(slow, Err(CaptureError::TooSlow(_))));
        let loud = run("i=0; while [ $i -lt 9000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo ok").await.unwrap();
        assert_eq!((loud.stdout.as_slice(), loud.stderr.len()), (&b"ok\n"[..], 4096));
    }
}
