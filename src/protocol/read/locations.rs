//! `textDocument/definition` and its kin, `textDocument/references`: `null`, a `Location`, a list of them, or a list of
//! `LocationLink`. Each distinct URI is decoded once; no list of URIs is kept while reading.

use std::collections::HashMap;
use std::path::Path;

use serde::de::{MapAccess, SeqAccess};
use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use super::basic::{Place, PlaceShape};
use super::shape::{Shape, item};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{FileRef, Location, Locations};
use crate::protocol::uri::uri_to_ref;

/// Reads places. Past the cap those in the asked file are kept.
///
/// # Errors
///
/// When the answer is neither `null`, nor a place, nor a list.
pub fn locations(raw: &[u8], caps: &Caps, asked: Option<&Path>) -> Result<Locations, ReadError> {
    let files = || Files { asked, ..Files::default() };
    read(raw, "a location, a list of them, or null", || Places { cap: caps.list, files: files() })
}

struct Places<'a> {
    cap: usize,
    files: Files<'a>,
}

impl<'de> Shape<'de> for Places<'_> {
    type Value = Result<Locations, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Locations::default())
    }

    fn object<A: MapAccess<'de>>(mut self, object: A) -> Result<Self::Value, A::Error> {
        let place = PlaceShape.object(object)?;
        let mut list = Locations::default();
        if place.named().is_none() {
            return Ok(Err(Found::Without("uri")));
        }
        if place.range.is_none() {
            return Ok(Err(Found::Without("range")));
        }
        self.take(&place, &mut list);
        Ok(Ok(self.finish(list)))
    }

    fn array<A: SeqAccess<'de>>(mut self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut list = Locations::default();
        while let Some(place) = item(&mut array, PlaceShape)? {
            self.take(&place, &mut list);
        }
        Ok(Ok(self.finish(list)))
    }
}

impl Places<'_> {
    fn take(&mut self, place: &Place<'_>, list: &mut Locations) {
        let Some((uri, range)) = place.named().zip(place.range) else {
            list.dropped += 1;
            return;
        };
        list.total += 1;
        if list.items.len() < self.cap {
            let file = self.files.index(uri);
            list.items.push(Location { file, range });
        } else if list.items.len() < self.cap + self.cap / 2
            && let Some(file) = self.files.asked(uri)
        {
            list.items.push(Location { file, range });
        }
    }

    fn finish(self, mut list: Locations) -> Locations {
        list.items.shrink_to_fit();
        list.files = self.files.table;
        list
    }
}

/// The files of an answer. URIs are told apart by a 128-bit hash, so that none of them is kept; two spellings of one
/// file are one file.
#[derive(Default)]
struct Files<'a> {
    table: Vec<FileRef>,
    known: HashMap<u128, u32>,
    last: Option<(u128, u32)>,
    asked: Option<&'a Path>,
    /// The last spelling that was compared with the asked file, and whether it is that.
    compared: Option<(u128, bool)>,
}

impl Files<'_> {
    /// The number of the asked file, if it is that.
    fn asked(&mut self, uri: &str) -> Option<u32> {
        let spelling = xxh3_128(uri.as_bytes());
        let known = self.compared.filter(|(last, _)| *last == spelling);
        let (_, is_asked) = known.unwrap_or_else(|| {
            let is_asked = matches!(uri_to_ref(uri), FileRef::Path(path) if Some(&*path) == self.asked);
            (spelling, is_asked)
        });
        self.compared = Some((spelling, is_asked));
        is_asked.then(|| self.index(uri))
    }

    fn index(&mut self, uri: &str) -> u32 {
        let spelling = xxh3_128(uri.as_bytes());
        if let Some((last, index)) = self.last
            && last == spelling
        {
            return index;
        }
        let index = match self.known.get(&spelling) {
            Some(&index) => index,
            None => self.decode(uri, spelling),
        };
        self.last = Some((spelling, index));
        index
    }

    fn decode(&mut self, uri: &str, spelling: u128) -> u32 {
        let file = uri_to_ref(uri);
        let name = match &file {
            FileRef::Path(path) => xxh3_128_with_seed(path.as_os_str().as_encoded_bytes(), 1),
            FileRef::Foreign(text) => xxh3_128_with_seed(text.as_bytes(), 2),
        };
        let new = u32::try_from(self.table.len()).unwrap_or(u32::MAX);
        let index = *self.known.entry(name).or_insert(new);
        if index == new {
            self.table.push(file);
        }
        self.known.insert(spelling, index);
        index
    }
}
