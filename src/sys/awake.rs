//! Waits in which only time counts in which this process could run: what has happened while it was stopped, or while a
//! crowded machine kept it from its turn, is seen before the wait is over.

use std::time::Duration;

use tokio::time::timeout;

/// The parts of a wait. Between two of them the runtime looks at what has come.
const PARTS: u32 = 10;

/// Waits for `work`, at most `longest`; nothing, when that was over first.
pub async fn while_awake<F: Future>(longest: Duration, work: F) -> Option<F::Output> {
    let mut work = std::pin::pin!(work);
    for _ in 0..PARTS {
        if let Ok(done) = timeout(longest / PARTS, &mut work).await {
            return Some(done);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use tokio::{
        sync::watch,
        time::{Instant, advance, sleep},
    };

    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn it_is_as_long_as_it_says() {
        let begun = Instant::now();
        assert_eq!(while_awake(LONG, std::future::pending::<()>()).await, None);
        assert!((LONG..LONG + Duration::from_millis(50)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
        assert_eq!(while_awake(Duration::ZERO, std::future::ready(7)).await, Some(7));
        assert_eq!(while_awake(Duration::ZERO, std::future::pending::<()>()).await, None);
    }

    /// Somebody else has something to tell, and neither of both can run for longer than the whole wait.
    #[tokio::test(start_paused = true)]
    async fn a_stop_of_the_whole_process_does_not_end_it() {
        let (tell, mut told) = watch::channel(false);
        let teller = tokio::spawn(async move {
            sleep(LONG / 2).await;
            // More than one step from the news to who waits for it, as from a pipe.
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            tell.send(true).unwrap();
        });
        let waiter = tokio::spawn(async move { while_awake(LONG, told.wait_for(|told| *told)).await.is_some() });
        tokio::task::yield_now().await;
        advance(LONG * 3).await;
        assert!(waiter.await.unwrap());
        teller.await.unwrap();
    }
}
