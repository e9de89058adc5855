//! What answers calls while definitions and settings come and go: each call takes the engine of one generation, and keeps
//! it to its end.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
};

use tokio::sync::watch;

use super::{
    Consent, ToolCall, ToolId, Tools,
    engine::Engine,
    news::News,
    outcome::{Failure, Outcome},
};

/// Whoever looks whether there is another generation.
pub trait Refresh: Send + Sync + 'static {
    /// Sees to it that what has been written before this call counts.
    fn look(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The engine as it is now.
pub struct Service {
    current: watch::Sender<Arc<Engine>>,
    refresh: OnceLock<Arc<dyn Refresh>>,
    news: News,
}

impl Service {
    /// Must be called inside a tokio runtime.
    pub fn new(engine: Engine) -> Arc<Self> {
        let news = News::of(&engine.pool, &engine.ground);
        Arc::new(Self { current: watch::Sender::new(Arc::new(engine)), refresh: OnceLock::new(), news })
    }

    /// Asks this one before each call, from now on. Only the first one counts.
    pub fn refreshed_by(&self, refresh: Arc<dyn Refresh>) {
        let _ = self.refresh.set(refresh);
    }

    /// The engine of this moment.
    pub fn current(&self) -> Arc<Engine> {
        self.current.borrow().clone()
    }

    /// Another generation: calls that are on their way end with theirs.
    pub fn swap(&self, engine: Engine) {
        self.current.send_replace(Arc::new(engine));
    }

    /// The tools that can be served now.
    pub fn offered(&self) -> Vec<ToolId> {
        self.current().offered()
    }

    /// Stops every server, and lets a change that has begun come to its end.
    pub async fn shutdown(&self) {
        let engine = self.current();
        tokio::join!(engine.pool.shutdown(), engine.written());
    }
}

impl Tools for Service {
    fn call(self: Arc<Self>, call: ToolCall) -> Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>> {
        Box::pin(async move {
            if let Some(refresh) = self.refresh.get() {
                refresh.look().await;
            }
            let engine = self.current();
            engine.dispatch(&call).await
        })
    }

    fn news(&self) -> News {
        self.news.clone()
    }

    fn consent(&self, call: &ToolCall) -> Result<Option<Consent>, Failure> {
        match call.tool {
            ToolId::Apply => super::apply::consent(&self.current(), call.caller.id, &call.arguments),
            _ => Ok(None),
        }
    }

    fn forget(&self, caller: u64) {
        let engine = self.current();
        engine.pool.forget(caller);
        engine.changes.forget(caller);
    }
}
