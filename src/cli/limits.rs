//! The limits that settings set, at the start and when they change.

use std::time::Duration;

use crate::{
    config::{self, Permission, Settings},
    registry::Confinement,
    runtime::{instance::Budget, pool::PoolLimits, start::Starter},
    tools::engine::{Confirm, ToolLimits},
};

/// The limits of servers that are started from now on.
pub(super) fn of_servers(starter: &mut Starter, settings: &Settings) {
    let ms = Duration::from_millis;
    starter.start_timeout = ms(settings.start_timeout_ms);
    starter.request_timeout = ms(settings.request_timeout_ms);
    starter.settle = ms(settings.settle_ms);
    starter.empty = ms(settings.empty_ms);
    starter.documents = settings.documents;
    starter.pending = settings.pending;
    starter.confinement = Confinement {
        memory_mb: Some(settings.memory_mb).filter(|limit| *limit > 0),
        nice: Some(settings.nice).filter(|nice| *nice > 0),
        sandbox: settings.sandbox,
    };
}

/// The limits of all servers together.
pub(super) fn of_pool(settings: &Settings) -> PoolLimits {
    let ms = Duration::from_millis;
    // 0 means never.
    let idle =
        if settings.idle_stop_ms == 0 { Duration::from_secs(u64::from(u32::MAX)) } else { ms(settings.idle_stop_ms) };
    let budget = Budget {
        restarts: settings.restarts,
        window: ms(settings.restart_window_ms),
        first: ms(settings.backoff_ms),
        longest: ms(settings.backoff_longest_ms.max(settings.backoff_ms)),
    };
    PoolLimits { instances: settings.instances, idle, budget }
}

/// The limits of answers.
pub(super) fn of_tools(settings: &Settings, forbidden: Option<String>) -> ToolLimits {
    ToolLimits {
        diagnostics_file: settings.diagnostics_file,
        diagnostics_delivery: settings.diagnostics_delivery,
        documents: settings.documents,
        capabilities: settings.capabilities.clone(),
        read_only: settings.permission == Permission::ReadOnly,
        forbidden,
        confirm: match settings.confirm {
            config::Confirm::None => Confirm::None,
            config::Confirm::Elicit => Confirm::Elicit,
        },
    }
}
