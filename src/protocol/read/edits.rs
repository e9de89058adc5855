//! `WorkspaceEdit` and lists of `TextEdit`. Unlike every other answer these are read whole or refused: an edit of which a
//! part was left out, cut or mended is another edit than the one that the server meant.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess};
use xxhash_rust::xxh3::xxh3_64;

use super::basic::{Flag, Short, Uri};
use super::replacements::{ListShape, VersionShape};
use super::shape::{Of, Shape, item, key, skip, value};
use super::{Found, ReadError};
use crate::protocol::types::{EditStep, FileRef, TextEdit, WorkspaceEdit};
use crate::protocol::uri::uri_to_ref;

/// Replacements and operations of one edit.
const EDITS: usize = 100_000;
/// Bytes of new text in one edit.
const TEXT: usize = 64 << 20;
/// Labels that ask for consent and are shown; one is enough to ask.
const LABELS: usize = 16;
/// Annotations of one edit that are looked at.
const ANNOTATIONS: usize = 1_000;
/// Bytes of one label.
const LABEL: usize = 300;

/// Reads the answer to `textDocument/rename`, `workspace/willRenameFiles` and their like; `null` is `None`.
///
/// # Errors
///
/// When any part of it has not LSP's shape, or it is larger than an edit may be.
pub fn workspace_edit(raw: &[u8]) -> Result<Option<WorkspaceEdit>, ReadError> {
    whole(raw, "a workspace edit or null", EditShape)
}

/// Reads the answer to `textDocument/formatting` and `…/rangeFormatting`; `null` is `None`.
///
/// # Errors
///
/// As [`workspace_edit`].
pub fn text_edits(raw: &[u8]) -> Result<Option<Vec<TextEdit>>, ReadError> {
    whole(raw, "a list of text edits or null", ListShape)
}

/// Reads the `edit` of a code action, or of the parameters of `workspace/applyEdit`; `None` where there is none.
///
/// # Errors
///
/// As [`workspace_edit`].
pub fn edit_inside(raw: &[u8]) -> Result<Option<WorkspaceEdit>, ReadError> {
    whole(raw, "an object with an edit", InsideShape)
}

/// Reads without mending anything: what serde_json refuses is no edit.
fn whole<T, S>(raw: &[u8], expected: &'static str, shape: impl FnOnce(Ledger) -> S) -> Result<T, ReadError>
where
    S: for<'de> Shape<'de, Value = Result<T, Found>>,
{
    let ledger = Ledger::default();
    let mut deserializer = serde_json::Deserializer::from_slice(raw);
    let read = Of(shape(ledger.clone())).deserialize(&mut deserializer);
    let found = match read.and_then(|read| deserializer.end().map(|()| read)) {
        Ok(Ok(read)) => return Ok(read),
        Ok(Err(found)) => found,
        Err(error) => match ledger.0.why.take() {
            Some(found) => found,
            None => return Err(ReadError::Json { expected, reason: error.to_string() }),
        },
    };
    Err(match found {
        Found::MoreThan(limit) => ReadError::TooLarge(limit),
        found => ReadError::Shape { expected, found },
    })
}

/// What has been read of an edit so far, and why no more of it is.
#[derive(Clone, Default)]
pub(super) struct Ledger(Rc<State>);

#[derive(Default)]
struct State {
    edits: Cell<usize>,
    bytes: Cell<usize>,
    /// Hashes of the annotations that a part of the edit bears; no more than there are edits.
    borne: RefCell<HashSet<u64>>,
    why: RefCell<Option<Found>>,
}

impl Ledger {
    /// Ends the reading at once.
    pub(super) fn refuse<E: Error>(&self, found: Found) -> E {
        let mut why = self.0.why.borrow_mut();
        why.get_or_insert(found);
        E::custom("not a whole edit")
    }

    pub(super) fn count<E: Error>(&self, bytes: usize) -> Result<(), E> {
        self.0.edits.set(self.0.edits.get() + 1);
        self.0.bytes.set(self.0.bytes.get().saturating_add(bytes));
        if self.0.edits.get() > EDITS {
            return Err(self.refuse(Found::MoreThan("100,000 edits")));
        }
        if self.0.bytes.get() > TEXT {
            return Err(self.refuse(Found::MoreThan("64 MiB of new text")));
        }
        Ok(())
    }

    /// A part of the edit bears this annotation.
    pub(super) fn bears(&self, annotation: Option<String>) {
        self.0.borne.borrow_mut().extend(annotation.map(|id| xxh3_64(id.as_bytes())));
    }

    /// The value of the key just read, or the end of the reading.
    fn strict<'de, A: MapAccess<'de>, T, S: Shape<'de, Value = Result<T, Found>>>(
        &self,
        object: &mut A,
        shape: S,
    ) -> Result<T, A::Error> {
        value(object, shape)?.map_err(|found| self.refuse(found))
    }
}

/// An object whose `edit` is a [`WorkspaceEdit`].
struct InsideShape(Ledger);

impl<'de> Shape<'de> for InsideShape {
    type Value = Result<Option<WorkspaceEdit>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut edit = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                "edit" => edit = self.0.strict(&mut object, EditShape(self.0.clone()))?,
                _ => skip(&mut object)?,
            }
        }
        Ok(Ok(edit))
    }
}

struct EditShape(Ledger);

impl<'de> Shape<'de> for EditShape {
    type Value = Result<Option<WorkspaceEdit>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(None)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut ordered, mut plain, mut asking) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(key) = key(&mut object)? {
            match &*key {
                "documentChanges" => ordered = self.0.strict(&mut object, StepsShape(self.0.clone()))?,
                "changes" => plain = self.0.strict(&mut object, ChangesShape(self.0.clone()))?,
                "changeAnnotations" => asking = value(&mut object, AnnotationsShape)?,
                _ => skip(&mut object)?,
            }
        }
        // LSP prefers `documentChanges` where both are there; some servers send an empty list of them.
        let steps = if ordered.is_empty() { plain } else { ordered };
        // rust-analyzer declares "Edit outside of the workspace" in every edit, whether a part of it is one or not.
        let borne = self.0.0.borne.borrow();
        let borne = asking.into_iter().filter(|(id, _)| borne.contains(id));
        let to_confirm = borne.map(|(_, label)| label).take(LABELS).collect();
        Ok(Ok(Some(WorkspaceEdit { steps, to_confirm })))
    }
}

/// `changes`: edits by URI. Two spellings of one file are one file.
struct ChangesShape(Ledger);

impl<'de> Shape<'de> for ChangesShape {
    type Value = Result<Vec<EditStep>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Vec::new())
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut files = indexmap::IndexMap::<FileRef, Vec<TextEdit>>::new();
        while let Some(uri) = key(&mut object)? {
            let file = uri_to_ref(&uri);
            // A file without edits counts too: else their number would have no limit.
            self.0.count(0)?;
            let edits = self.0.strict(&mut object, ListShape(self.0.clone()))?;
            files.entry(file).or_default().extend(edits.unwrap_or_default());
        }
        let step = |(file, edits)| EditStep::Texts { file, version: None, edits };
        Ok(Ok(files.into_iter().map(step).collect()))
    }
}

/// `documentChanges`: text edits and file operations in their order.
struct StepsShape(Ledger);

impl<'de> Shape<'de> for StepsShape {
    type Value = Result<Vec<EditStep>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Vec::new())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut steps = Vec::new();
        while let Some(step) = item(&mut array, StepShape(self.0.clone()))? {
            self.0.count(0)?;
            steps.push(step.map_err(|found| self.0.refuse(found))?);
        }
        Ok(Ok(steps))
    }
}

struct StepShape(Ledger);

impl<'de> Shape<'de> for StepShape {
    type Value = Result<EditStep, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut kind, mut document, mut edits, mut options) = (None, None, None, Options::default());
        let (mut uri, mut from, mut to) = (None, None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "kind" => kind = value(&mut object, Short(32))?,
                "textDocument" => document = value(&mut object, DocumentShape)?,
                "edits" => edits = self.0.strict(&mut object, ListShape(self.0.clone()))?,
                "options" => options = value(&mut object, OptionsShape)?,
                "uri" => uri = value(&mut object, FileShape)?,
                "oldUri" => from = value(&mut object, FileShape)?,
                "newUri" => to = value(&mut object, FileShape)?,
                "annotationId" => self.0.bears(value(&mut object, Short(usize::MAX))?),
                _ => skip(&mut object)?,
            }
        }
        Ok(match kind.as_deref() {
            None => step_of_texts(document, edits),
            Some("create") => uri.ok_or(Found::Without("uri")).map(|file| EditStep::Create {
                file,
                overwrite: options.overwrite,
                ignore_if_exists: options.ignore_if_exists,
            }),
            Some("rename") => {
                let both = from
                    .ok_or(Found::Without("oldUri"))
                    .and_then(|from| Ok((from, to.ok_or(Found::Without("newUri"))?)));
                both.map(|(from, to)| EditStep::Rename {
                    from,
                    to,
                    overwrite: options.overwrite,
                    ignore_if_exists: options.ignore_if_exists,
                })
            }
            Some("delete") => uri.ok_or(Found::Without("uri")).map(|file| EditStep::Delete {
                file,
                recursive: options.recursive,
                ignore_if_not_exists: options.ignore_if_not_exists,
            }),
            Some(_) => Err(Found::Without("kind")),
        })
    }
}

fn step_of_texts(document: Option<Document>, edits: Option<Vec<TextEdit>>) -> Result<EditStep, Found> {
    let document = document.ok_or(Found::Without("textDocument"))?;
    let edits = edits.ok_or(Found::Without("edits"))?;
    Ok(EditStep::Texts { file: document.file, version: document.version, edits })
}

struct Document {
    file: FileRef,
    version: Option<i64>,
}

struct DocumentShape;

impl<'de> Shape<'de> for DocumentShape {
    type Value = Option<Document>;

    fn other(self, _: Found) -> Option<Document> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Document>, A::Error> {
        let (mut file, mut version) = (None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "uri" => file = value(&mut object, FileShape)?,
                "version" => version = value(&mut object, VersionShape)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(file.map(|file| Document { file, version }))
    }
}

struct FileShape;

impl<'de> Shape<'de> for FileShape {
    type Value = Option<FileRef>;

    fn other(self, _: Found) -> Option<FileRef> {
        None
    }

    fn text(self, value: &str) -> Option<FileRef> {
        Uri.text(value).filter(|uri| !uri.is_empty()).map(|uri| uri_to_ref(&uri))
    }
}

#[derive(Default)]
struct Options {
    overwrite: bool,
    ignore_if_exists: bool,
    recursive: bool,
    ignore_if_not_exists: bool,
}

struct OptionsShape;

impl<'de> Shape<'de> for OptionsShape {
    type Value = Options;

    fn other(self, _: Found) -> Options {
        Options::default()
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Options, A::Error> {
        let mut options = Options::default();
        while let Some(key) = key(&mut object)? {
            match &*key {
                "overwrite" => options.overwrite = value(&mut object, Flag)?,
                "ignoreIfExists" => options.ignore_if_exists = value(&mut object, Flag)?,
                "recursive" => options.recursive = value(&mut object, Flag)?,
                "ignoreIfNotExists" => options.ignore_if_not_exists = value(&mut object, Flag)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(options)
    }
}

/// The annotations that want a person's consent, each by the hash of its id, with its label.
struct AnnotationsShape;

impl<'de> Shape<'de> for AnnotationsShape {
    type Value = Vec<(u64, String)>;

    fn other(self, _: Found) -> Self::Value {
        Vec::new()
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut asking = Vec::new();
        while let Some(id) = key(&mut object)? {
            let id = xxh3_64(id.as_bytes());
            if let Some(label) = value(&mut object, AnnotationShape)?.filter(|_| asking.len() < ANNOTATIONS) {
                asking.push((id, label));
            }
        }
        Ok(asking)
    }
}

struct AnnotationShape;

impl<'de> Shape<'de> for AnnotationShape {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<String>, A::Error> {
        let (mut label, mut asks) = (None, false);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "label" => label = value(&mut object, Short(LABEL))?,
                "needsConfirmation" => asks = value(&mut object, Flag)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(asks.then(|| label.unwrap_or_default()))
    }
}
