//! The tree below a folder, by handle.
use std::{fmt, io, sync::Arc};
/// Asked before each step that writes; an error takes the step's place.
#[derive(Clone, Default)]
pub struct Hook(Option<Arc<dyn Fn(&'static str) -> io::Result<()> + Send + Sync>>);
impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hook(set)" } else { "Hook" })
    }
}
