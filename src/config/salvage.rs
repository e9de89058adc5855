//! What a file of settings with a mistake still holds to: whatever shuts servers in or limits what is offered counts, as
//! far as it can be read, and where it cannot the strictest does. Nobody is let out by a slip of the pen.

use figment::{Figment, Profile, providers::Serialized, value::Dict};

use super::{
    Settings,
    settings::{Permission, Sandbox},
    text,
};

/// The keys that limit.
const LIMITS: &[&str] = &["sandbox", "memory_mb", "nice", "capabilities"];

/// The defaults with what `written` limits; a file that cannot even be read may limit anything.
pub(super) fn limits(defaults: &Figment, written: Option<&str>) -> Figment {
    let mut kept = defaults.clone().merge(("permission", Permission::ReadOnly));
    let Some(written) = written else { return kept.merge(("sandbox", Sandbox::Bwrap)) };
    let whole = written.parse::<toml::Table>().ok();
    for key in LIMITS {
        let value = match &whole {
            Some(table) => table.get(*key).cloned(),
            // No TOML as a whole: the line of the key may be.
            None => text::line_of(written, key)
                .and_then(|line| written.lines().nth(line - 1)?.parse::<toml::Table>().ok()?.remove(*key)),
        };
        let merged = value.and_then(|value| {
            let layer = Dict::from([((*key).to_owned(), figment::value::Value::serialize(value).ok()?)]);
            let merged = kept.clone().merge(Serialized::from(layer, Profile::Default));
            let settings: Settings = merged.extract().ok()?;
            settings.out_of_bounds().is_none().then_some(merged)
        });
        match merged {
            Some(merged) => kept = merged,
            None if *key == "sandbox" && written.contains(*key) => kept = kept.merge(("sandbox", Sandbox::Bwrap)),
            None => {}
        }
    }
    kept
}
