//! Diagnostics, pushed (`textDocument/publishDiagnostics`) and pulled (`textDocument/diagnostic`,
//! `workspace/diagnostic`).

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Short, Signed, Uri};
use super::keep::Keep;
use super::problems::Problems;
use super::shape::{Shape, item, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{Capped, FileRef, Listed, Published, Report};
use crate::protocol::uri::uri_to_ref;

/// Bytes of a result id; it goes back to the server, so a longer one is not kept at all.
const RESULT_ID: usize = 64 * 1024;

/// Reads the parameters of `textDocument/publishDiagnostics`.
///
/// # Errors
///
/// When they are no object with `uri` and `diagnostics` (which may be `null`: servers in Go send an empty list so).
pub fn published(raw: &[u8], caps: &Caps) -> Result<Published, ReadError> {
    read(raw, "published diagnostics", || PublishedShape { caps: *caps })
}

/// Reads the answer to `textDocument/diagnostic`. `null` is `None`: it says nothing, least of all that there are no
/// problems.
///
/// # Errors
///
/// When the answer is neither `null` nor a report.
pub fn report(raw: &[u8], caps: &Caps) -> Result<Option<Report>, ReadError> {
    read(raw, "a diagnostic report or null", || OneReport { caps: *caps })
}

/// One file's part of a workspace report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport<L = Listed> {
    pub file: FileRef,
    pub version: Option<i32>,
    pub report: Report<L>,
}

/// Puts the lists of a message in the places of their numbers.
fn deal(keep: Keep) -> impl FnMut(usize) -> Listed {
    let mut lists = keep.into_lists();
    move |number| lists.get_mut(number).map(std::mem::take).unwrap_or_default()
}

/// Reads the answer to `workspace/diagnostic`; `null` is `None`.
///
/// # Errors
///
/// When the answer is neither `null` nor an object with `items`.
pub fn workspace_report(raw: &[u8], caps: &Caps) -> Result<Option<Capped<FileReport>>, ReadError> {
    read(raw, "a workspace diagnostic report or null", || WorkspaceShape { caps: *caps })
}

struct PublishedShape {
    caps: Caps,
}

impl<'de> Shape<'de> for PublishedShape {
    type Value = Result<Published, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut uri, mut version) = (None, None);
        let keep = Keep::new(self.caps.items);
        let mut list = Err(Found::Without("diagnostics"));
        while let Some(key) = key(&mut object)? {
            match &*key {
                "uri" => uri = value(&mut object, Uri)?,
                "version" => version = value(&mut object, Signed)?,
                "diagnostics" => list = problems(&mut object, &self.caps, &keep, "diagnostics")?,
                _ => skip(&mut object)?,
            }
        }
        let Some(uri) = uri.filter(|uri| !uri.is_empty()) else { return Ok(Err(Found::Without("uri"))) };
        Ok(list.map(|number| Published { file: uri_to_ref(&uri), version, list: deal(keep)(number) }))
    }
}

/// The number of a list of diagnostics, if it was one.
type Read = Result<usize, Found>;

fn problems<'de, A: MapAccess<'de>>(
    object: &mut A,
    caps: &Caps,
    keep: &Keep,
    key: &'static str,
) -> Result<Read, A::Error> {
    Ok(value(object, Problems { caps, keep })?.map_err(|_| Found::Without(key)))
}

struct OneReport {
    caps: Caps,
}

impl<'de> Shape<'de> for OneReport {
    type Value = Result<Option<Report>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(None)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        let keep = Keep::new(self.caps.items);
        let read = Parts::read(object, &self.caps, &keep, true)?.report();
        Ok(read.map(|report| Some(report.map(&mut deal(keep)))))
    }
}

/// A report of any of the three places where one may stand: alone, among related documents, in a workspace report.
#[derive(Default)]
struct Parts {
    kind: Option<String>,
    result_id: Option<String>,
    items: Option<Read>,
    related: Vec<(FileRef, Report<usize>)>,
    file: Option<FileRef>,
    version: Option<i32>,
}

impl Parts {
    fn read<'de, A: MapAccess<'de>>(mut object: A, caps: &Caps, keep: &Keep, related: bool) -> Result<Self, A::Error> {
        let mut parts = Self::default();
        while let Some(key) = key(&mut object)? {
            match &*key {
                "kind" => parts.kind = value(&mut object, Short(16))?,
                "resultId" => parts.result_id = value(&mut object, ResultId)?,
                "items" => parts.items = Some(problems(&mut object, caps, keep, "items")?),
                "relatedDocuments" if related => parts.related = value(&mut object, RelatedShape { caps, keep })?,
                "uri" => {
                    let uri = value(&mut object, Uri)?.filter(|uri| !uri.is_empty());
                    parts.file = uri.map(|uri| uri_to_ref(&uri));
                }
                "version" => parts.version = value(&mut object, Signed)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(parts)
    }

    /// The report; where `kind` is missing or unknown, items make it a full one.
    fn report(self) -> Result<Report<usize>, Found> {
        let Self { kind, result_id, items, related, .. } = self;
        match (kind.as_deref(), items) {
            (Some("unchanged"), _) => Ok(Report::Unchanged { result_id: result_id.unwrap_or_default(), related }),
            (_, Some(list)) => Ok(Report::Full { list: list?, result_id, related }),
            (Some("full"), None) => Err(Found::Without("items")),
            _ => Err(Found::Without("kind")),
        }
    }
}

/// A text that is kept whole or not at all.
struct ResultId;

impl Shape<'_> for ResultId {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn text(self, value: &str) -> Option<String> {
        (value.len() <= RESULT_ID).then(|| value.to_owned())
    }
}

/// `relatedDocuments`: reports by URI; those that cannot be read are left out.
struct RelatedShape<'c> {
    caps: &'c Caps,
    keep: &'c Keep,
}

impl<'de> Shape<'de> for RelatedShape<'_> {
    type Value = Vec<(FileRef, Report<usize>)>;

    fn other(self, _: Found) -> Self::Value {
        Vec::new()
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut related = Vec::new();
        while let Some(uri) = key(&mut object)? {
            if let Some(Ok(report)) =
                value(&mut object, Nested { caps: self.caps, keep: self.keep })?.map(Parts::report)
                && related.len() < self.caps.items
            {
                related.push((uri_to_ref(&uri), report));
            }
        }
        Ok(related)
    }
}

/// A report inside another; it has no related documents of its own.
struct Nested<'c> {
    caps: &'c Caps,
    keep: &'c Keep,
}

impl<'de> Shape<'de> for Nested<'_> {
    type Value = Option<Parts>;

    fn other(self, _: Found) -> Option<Parts> {
        None
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<Parts>, A::Error> {
        Parts::read(object, self.caps, self.keep, false).map(Some)
    }
}

struct WorkspaceShape {
    caps: Caps,
}

impl<'de> Shape<'de> for WorkspaceShape {
    type Value = Result<Option<Capped<FileReport>>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(None)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let keep = Keep::new(self.caps.items);
        let mut list = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                "items" => list = value(&mut object, FileReports { caps: &self.caps, keep: &keep })?,
                _ => skip(&mut object)?,
            }
        }
        let Some(Capped { items, total, dropped }) = list else { return Ok(Err(Found::Without("items"))) };
        let mut lists = deal(keep);
        let items = items.into_iter().map(|FileReport { file, version, report }| {
            let report = report.map(&mut lists);
            FileReport { file, version, report }
        });
        Ok(Ok(Some(Capped { items: items.collect(), total, dropped })))
    }
}

/// The files of a workspace report.
struct FileReports<'c> {
    caps: &'c Caps,
    keep: &'c Keep,
}

impl<'de> Shape<'de> for FileReports<'_> {
    type Value = Option<Capped<FileReport<usize>>>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn null(self) -> Self::Value {
        Some(Capped::default())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut list = Capped::default();
        while let Some(parts) = item(&mut array, Nested { caps: self.caps, keep: self.keep })? {
            let read = parts.and_then(|mut parts| {
                let (file, version) = (parts.file.take()?, parts.version);
                Some(FileReport { file, version, report: parts.report().ok()? })
            });
            match read {
                Some(read) => {
                    list.total += 1;
                    if list.items.len() < self.caps.items {
                        list.items.push(read);
                    }
                }
                None => list.dropped += 1,
            }
        }
        Ok(Some(list))
    }
}
