//! A list of diagnostics, each kept as it came where there is room.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::basic::{Documentation, PlaceShape, RangeShape, Short, TagSet, Tags};
use super::keep::Keep;
use super::shape::{Many, Number, Of, Shape, key, skip, value};
use super::{Caps, Found};
use crate::protocol::types::{Diagnostic, Related, Severity, Wire};
use crate::protocol::uri::uri_to_ref;

/// Pieces of related information that are kept.
pub(super) const RELATED: usize = 8;
/// Bytes of one list's problems that are kept as they came.
const WIRE: usize = 256 << 10;
/// `DiagnosticTag.Unnecessary` and `DiagnosticTag.Deprecated`.
const UNNECESSARY: u32 = 1;
const DEPRECATED: u32 = 2;

/// A list of diagnostics, of which the number is told; `null` is empty.
pub(super) struct Problems<'c> {
    pub(super) caps: &'c Caps,
    pub(super) keep: &'c Keep,
}

impl<'de> Shape<'de> for Problems<'_> {
    type Value = Result<usize, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(self.keep.list().number())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut list = self.keep.list();
        let mut room = WIRE;
        while let Some(read) = array.next_element_seed(RawProblem { caps: self.caps, room: &mut room })? {
            match read {
                Some(problem) => list.add(problem),
                None => list.malformed(),
            }
        }
        Ok(Ok(list.number()))
    }
}

/// A problem that is read, and kept as it stands where there is room.
struct RawProblem<'c> {
    caps: &'c Caps,
    room: &'c mut usize,
}

impl<'de> DeserializeSeed<'de> for RawProblem<'_> {
    type Value = Option<Diagnostic>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Diagnostic>, D::Error> {
        let raw = <&'de RawValue as serde::Deserialize>::deserialize(deserializer)?.get();
        let mut inner = serde_json::Deserializer::from_str(raw);
        let problem = Of(ProblemShape { caps: self.caps }).deserialize(&mut inner).map_err(D::Error::custom)?;
        Ok(problem.map(|mut problem| {
            if raw.len() <= *self.room {
                *self.room -= raw.len();
                problem.wire = Wire(Some(raw.into()));
            }
            problem
        }))
    }
}

struct ProblemShape<'c> {
    caps: &'c Caps,
}

impl<'de> Shape<'de> for ProblemShape<'_> {
    type Value = Option<Diagnostic>;

    fn other(self, _: Found) -> Option<Diagnostic> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Diagnostic>, A::Error> {
        let (mut range, mut message) = (None, None);
        let (mut severity, mut code, mut source) = (Severity::Error, None, None);
        let (mut tags, mut related) = (TagSet::default(), Vec::new());
        while let Some(key) = key(&mut object)? {
            match &*key {
                "range" => range = value(&mut object, RangeShape)?,
                "message" => message = value(&mut object, Documentation(self.caps.message))?,
                "severity" => severity = value(&mut object, SeverityShape)?,
                "code" => code = value(&mut object, CodeShape(self.caps.name))?,
                "source" => source = value(&mut object, Short(self.caps.name))?,
                "tags" => tags = value(&mut object, Tags)?,
                "relatedInformation" => {
                    let shape = Many { cap: RELATED, each: RelatedShape { message: self.caps.message } };
                    related = value(&mut object, shape)?.map(|list| list.items).unwrap_or_default();
                }
                _ => skip(&mut object)?,
            }
        }
        Ok(range.zip(message).map(|(range, message)| Diagnostic {
            range,
            severity,
            code,
            source: source.filter(|source: &String| !source.is_empty()),
            message,
            unnecessary: tags.has(UNNECESSARY),
            deprecated: tags.has(DEPRECATED),
            related,
            wire: Wire::default(),
        }))
    }
}

/// A severity; what LSP does not know counts as an error, like a missing one.
struct SeverityShape;

impl Shape<'_> for SeverityShape {
    type Value = Severity;

    fn other(self, _: Found) -> Severity {
        Severity::Error
    }

    fn number(self, value: Number) -> Severity {
        match value.signed() {
            Some(2) => Severity::Warning,
            Some(3) => Severity::Info,
            Some(4) => Severity::Hint,
            _ => Severity::Error,
        }
    }
}

/// A code: a text, a number, or an object with `value`, as VS Code's own API has it.
struct CodeShape(usize);

impl<'de> Shape<'de> for CodeShape {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn number(self, value: Number) -> Option<String> {
        Some(value.to_string())
    }

    fn text(self, value: &str) -> Option<String> {
        Short(self.0).text(value).filter(|code| !code.is_empty())
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<String>, A::Error> {
        let mut code = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                // A code in a code in a code is not followed.
                "value" => code = value(&mut object, PlainCode(self.0))?,
                _ => skip(&mut object)?,
            }
        }
        Ok(code)
    }
}

struct PlainCode(usize);

impl Shape<'_> for PlainCode {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn number(self, value: Number) -> Option<String> {
        CodeShape(self.0).number(value)
    }

    fn text(self, value: &str) -> Option<String> {
        CodeShape(self.0).text(value)
    }
}

#[derive(Clone, Copy)]
struct RelatedShape {
    message: usize,
}

impl<'de> Shape<'de> for RelatedShape {
    type Value = Option<Related>;

    fn other(self, _: Found) -> Option<Related> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Related>, A::Error> {
        let (mut place, mut message) = (None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "location" => place = Some(value(&mut object, PlaceShape)?),
                "message" => message = value(&mut object, Documentation(self.message))?,
                _ => skip(&mut object)?,
            }
        }
        let Some(place) = place else { return Ok(None) };
        let Some((uri, range)) = place.named().zip(place.range) else { return Ok(None) };
        Ok(Some(Related { file: uri_to_ref(uri), range, message: message.unwrap_or_default() }))
    }
}
