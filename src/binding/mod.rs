//! Which definitions serve which file. Knows neither processes nor protocols.

mod bound;

pub use bound::{BindError, Binding, Bound, Fit, Serving};
