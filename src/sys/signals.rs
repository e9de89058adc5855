//! The signals that ask langport to end.

/// Waits for one of them; tells its name.
pub async fn ended() -> &'static str {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let watch = |kind| async move {
            match signal(kind) {
                Ok(mut signal) => signal.recv().await,
                // It cannot be watched: then it ends the process by itself.
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = watch(SignalKind::terminate()) => "SIGTERM",
            _ = watch(SignalKind::interrupt()) => "SIGINT",
            _ = watch(SignalKind::hangup()) => "SIGHUP",
        }
    }
    #[cfg(not(unix))]
    {
        let _ = tokio::signal::ctrl_c().await;
        "interrupt"
    }
}
