//! `workspace/symbol`: `SymbolInformation`, or `WorkspaceSymbol` whose location may be a file without a range.

use serde::de::MapAccess;

use super::basic::{Flag, PlaceShape, Short, Small, TagSet, Tags};
use super::shape::{Shape, key, skip, value};
use super::sought::{BestOf, rank};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{SymbolHit, SymbolHits};
use crate::protocol::uri::uri_to_ref;

/// `SymbolTag.Deprecated`.
const DEPRECATED: u32 = 1;

/// Reads the symbols that a project-wide search for `query` found. Where they are too many those are kept that are called so,
/// then those whose names begin so.
///
/// # Errors
///
/// When the answer is neither `null` nor a list.
pub fn symbol_hits(raw: &[u8], caps: &Caps, query: &str) -> Result<SymbolHits, ReadError> {
    let order = |one: &SymbolHit, other: &SymbolHit| rank(&one.name, query).cmp(&rank(&other.name, query));
    let list = read(raw, "symbols or null", || BestOf { cap: caps.items, each: HitShape { caps: *caps }, order })?;
    Ok(SymbolHits { items: list.items, total: list.total, dropped: list.dropped })
}

#[derive(Clone, Copy)]
struct HitShape {
    caps: Caps,
}

impl<'de> Shape<'de> for HitShape {
    type Value = Option<SymbolHit>;

    fn other(self, _: Found) -> Option<SymbolHit> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<SymbolHit>, A::Error> {
        let (mut name, mut kind, mut container, mut place) = (None, None, None, None);
        let (mut tags, mut deprecated) = (TagSet::default(), false);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "name" => name = value(&mut object, Short(self.caps.name))?,
                "kind" => kind = value(&mut object, Small)?,
                "containerName" => container = value(&mut object, Short(self.caps.name))?,
                "location" => place = Some(value(&mut object, PlaceShape)?),
                "tags" => tags = value(&mut object, Tags)?,
                "deprecated" => deprecated = value(&mut object, Flag)?,
                _ => skip(&mut object)?,
            }
        }
        let Some((name, place)) = name.zip(place) else { return Ok(None) };
        let Some(uri) = place.named() else { return Ok(None) };
        Ok(Some(SymbolHit {
            name,
            kind: kind.unwrap_or(0),
            container: container.filter(|container: &String| !container.is_empty()),
            file: uri_to_ref(uri),
            range: place.range,
            deprecated: deprecated || tags.has(DEPRECATED),
        }))
    }
}
