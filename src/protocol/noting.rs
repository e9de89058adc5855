//! Reads from a server and notes from which moment on there is something that has left its pipe and is not yet handed on.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, ReadBuf};

pub(super) struct Noting<R> {
    pub(super) input: R,
    pub(super) busy: Arc<AtomicBool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Noting<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // Before: nobody may find the pipe empty and this reader idle.
        let before = self.busy.swap(true, Ordering::SeqCst);
        let polled = Pin::new(&mut self.input).poll_read(cx, buf);
        if polled.is_pending() {
            self.busy.store(before, Ordering::SeqCst);
        }
        polled
    }
}
