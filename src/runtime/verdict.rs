//! How far an answer can be trusted: the closed list of verdicts and how several combine.

use schemars::JsonSchema;
use serde::Serialize;

/// How far an answer can be trusted, best first: the order is the order of badness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The server has analysed the text now on disk.
    Fresh,
    /// Analysed, but the server is still at work and may add more.
    Settling,
    /// Silent past its usual time; the last list is likely right, but not proven.
    Unconfirmed,
    /// One of several servers, or part of the scope, has answered.
    Partial,
    /// Only an older text was analysed in the time allowed.
    Stale,
    /// Starting or still loading the project.
    Indexing,
    /// Nothing came in the time allowed.
    Unanswered,
    /// The server has no such capability.
    Unsupported,
    /// No server.
    Unavailable,
    /// The server answered with an error, or died.
    Failed,
}

impl Verdict {
    /// The word for it in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Settling => "settling",
            Self::Unconfirmed => "unconfirmed",
            Self::Partial => "partial",
            Self::Stale => "stale",
            Self::Indexing => "indexing",
            Self::Unanswered => "unanswered",
            Self::Unsupported => "unsupported",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }

    /// Whether an answer about the present text stands behind the verdict (perhaps an unproven one).
    pub fn answered(self) -> bool {
        matches!(self, Self::Fresh | Self::Settling | Self::Unconfirmed)
    }

    /// Whether the call as a whole has failed when every server's verdict is of this kind.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Unsupported | Self::Unavailable | Self::Failed)
    }

    /// The verdict of an answer that several servers share: `partial` where some have answered and others have not,
    /// else the worst. An empty list is `unavailable`: nobody answered.
    pub fn combine(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let mut worst = None;
        let mut best = None;
        for verdict in verdicts {
            worst = worst.max(Some(verdict));
            best = Some(best.map_or(verdict, |b: Self| b.min(verdict)));
        }
        match (best, worst) {
            (Some(best), Some(worst)) if best.answered() && worst > Self::Partial => Self::Partial,
            (_, Some(worst)) => worst,
            _ => Self::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{self, *};

    #[test]
    fn the_worst_leads_and_a_mixture_is_partial() {
        assert_eq!(Verdict::combine([Fresh, Fresh]), Fresh);
        assert_eq!(Verdict::combine([Fresh, Settling]), Settling);
        assert_eq!(Verdict::combine([Fresh, Unanswered]), Partial);
        assert_eq!(Verdict::combine([Unconfirmed, Failed]), Partial);
        assert_eq!(Verdict::combine([Indexing, Unanswered]), Unanswered);
        assert_eq!(Verdict::combine([Stale, Failed]), Failed);
        assert_eq!(Verdict::combine([]), Unavailable);
    }
}
