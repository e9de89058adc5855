//! Work that may block its thread for a while, done where the runtime has few threads.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does work that blocks: a slow disk, a lock that somebody holds who reads from one. What else the runtime has to do goes
/// on elsewhere meanwhile, where it can.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc::channel, time::Duration};

    use super::*;

    #[test]
    fn who_blocks_keeps_nobody_else_from_running() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (tell, told) = channel();
        let waits = async move {
            tokio::spawn(async move { tell.send(()) });
            blocking(|| told.recv_timeout(Duration::from_secs(30)))
        };
        runtime.block_on(async { tokio::spawn(waits).await }).unwrap().expect("the other one runs meanwhile");
    }

    #[tokio::test]
    async fn one_thread_alone_does_it_itself() {
        assert_eq!(blocking(|| 7), 7);
    }

    #[test]
    fn without_a_runtime_it_is_just_done() {
        assert_eq!(blocking(|| 7), 7);
    }
}
