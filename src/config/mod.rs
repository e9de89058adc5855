//! Settings of langport itself, in layers: built in, the user's file, the environment, flags; managed configuration
//! takes the place of the user's.

mod capability;
mod layers;
pub mod nearest;
mod origins;
mod salvage;
mod settings;
pub(crate) mod text;
mod words;

pub use capability::{Capability, UnknownCapability};
pub use layers::{ConfigError, Flags, LEFT_OUT, Loaded, load};
pub use origins::Origins;
pub use settings::{Confirm, Output, Permission, Sandbox, Settings, ToolNames};
pub use words::count;
