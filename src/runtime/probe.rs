//! Starts a server only to see whether it does, how long that takes and what it says it can do; then lets it go.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::time::{Instant, sleep, sleep_until};

use crate::{
    config::Capability,
    protocol::{Effective, Method, ServerInfo, positions::Encoding},
    registry::Entry,
};

use super::{
    pool::Pool,
    session::{STDERR_LINES, Session},
    shortfall::Shortfall,
};

/// Servers register more after the handshake: this long after the last word that is taken to be over, and this long in
/// all.
const QUIET: Duration = Duration::from_millis(400);
const REGISTERING: Duration = Duration::from_secs(3);
/// Beyond the start's own limit, whose message says more.
const SLACK: Duration = Duration::from_secs(1);

/// What starting a server showed.
#[derive(Debug, Clone)]
pub struct Probe {
    pub program: PathBuf,
    /// Spawn and handshake.
    pub took: Duration,
    /// The name and version that the server gives itself: untrusted.
    pub server: Option<ServerInfo>,
    pub capabilities: Vec<Capability>,
    /// Problems can be asked for; else they come when the server thinks so.
    pub pulls: bool,
    pub encoding: Encoding,
    /// Lines on its output that were no message: untrusted.
    pub junk: Vec<String>,
    /// The last of its stderr: untrusted.
    pub stderr: Vec<String>,
}

impl Pool {
    /// Starts a server for a root, looks at it, stops it.
    ///
    /// # Errors
    /// With the reason why it did not start, or did not stay.
    pub async fn probe(&self, entry: &Arc<Entry>, root: &Path) -> Result<Probe, Shortfall> {
        let instance = self.instance(entry, root);
        let session = instance.session(self.start_timeout() + SLACK).await?;
        let hold = session.hold();
        let seen = look(&session).await;
        drop(hold);
        instance.stop("it was only looked at").await;
        seen
    }
}

async fn look(session: &Session) -> Result<Probe, Shortfall> {
    let mut news = session.heard.news();
    let end = Instant::now() + REGISTERING;
    loop {
        tokio::select! {
            _ = session.wire.closed() => {
                session.settle_death().await;
                return Err(session.died());
            }
            changed = news.changed() => if changed.is_err() { break },
            () = sleep(QUIET) => break,
            () = sleep_until(end) => break,
        }
    }
    let record = session.heard.record();
    let effective = &record.effective;
    Ok(Probe {
        program: session.launch.program.clone(),
        took: session.handshake,
        server: effective.server_info(),
        capabilities: capabilities(effective),
        pulls: effective.offers(Method::Diagnostic),
        encoding: session.encoding,
        junk: session.wire.stats().junk,
        stderr: session.stderr.last(STDERR_LINES),
    })
}

/// The words for what a server offers. Whether one pushes problems is never declared: those that are told of open files
/// do.
pub fn capabilities(effective: &Effective) -> Vec<Capability> {
    let offers = |capability: &Capability| {
        methods(*capability).iter().any(|method| effective.offers(*method))
            || (*capability == Capability::Diagnostics && effective.sync("", Path::new("")).open_close)
    };
    Capability::ALL.iter().copied().filter(offers).collect()
}

/// The requests that make up a capability.
pub(super) fn methods(capability: Capability) -> &'static [Method] {
    match capability {
        Capability::Diagnostics => &[Method::Diagnostic],
        Capability::Hover => &[Method::Hover],
        Capability::Completions => &[Method::Completion],
        Capability::Definitions => {
            &[Method::Definition, Method::Declaration, Method::TypeDefinition, Method::Implementation]
        }
        Capability::References => &[Method::References],
        Capability::Rename => &[Method::Rename],
        Capability::CodeActions => &[Method::CodeAction],
        Capability::Formatting => &[Method::Formatting, Method::RangeFormatting],
        Capability::SignatureHelp => &[Method::SignatureHelp],
        Capability::DocumentSymbols => &[Method::DocumentSymbol],
        Capability::WorkspaceSymbols => &[Method::WorkspaceSymbol],
        Capability::CallHierarchy => &[Method::CallHierarchy],
        Capability::TypeHierarchy => &[Method::TypeHierarchy],
        Capability::FileOperations => &[Method::WillRenameFiles],
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(capabilities: &str, expected: &Expect) {
        let told = format!("{{\"capabilities\": {capabilities}}}");
        let effective = Effective::from_initialize(told.as_bytes()).unwrap();
        let words: Vec<_> = super::capabilities(&effective).into_iter().map(Capability::word).collect();
        expected.assert_eq(&words.join(" "));
    }

    #[test]
    fn what_is_offered_in_the_words_of_configuration() {
        check("{}", &expect![""]);
        check(r#"{"textDocumentSync": 1, "hoverProvider": false}"#, &expect!["diagnostics"]);
        check(
            r#"{"diagnosticProvider": {}, "implementationProvider": true, "documentRangeFormattingProvider": true,
                "workspace": {"fileOperations": {"willRename": {"filters": []}}}}"#,
            &expect!["diagnostics definitions formatting file_operations"],
        );
    }
}
