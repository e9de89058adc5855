//! `textDocument/signatureHelp`. A parameter's label is text, or two offsets into the signature's label, which LSP
//! counts in UTF-16 whatever encoding was agreed on, and some servers in another unit.

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Documentation, Ordinal, Short, Unsigned};
use super::keys::One;
use super::shape::{Many, Shape, item, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{Signature, Signatures};

/// Signatures and parameters that are kept.
const MANY: usize = 1000;

/// Reads signature help. Past the cap the active signature is kept, whatever number it has.
///
/// # Errors
///
/// When the answer is neither `null` nor an object with `signatures`.
pub fn signatures(raw: &[u8], caps: &Caps) -> Result<Signatures, ReadError> {
    // It is often told behind the list.
    let active = read(raw, "an object", || Active).ok().flatten();
    read(raw, "signature help or null", || HelpShape { caps: *caps, active })
}

/// The number of the active signature alone.
struct Active;

impl<'de> Shape<'de> for Active {
    type Value = Result<Option<usize>, Found>;

    fn other(self, _: Found) -> Self::Value {
        Ok(None)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        let active = One { key: "activeSignature", value: Ordinal }.object(object)?;
        Ok(Ok(active.map(|active| active as usize)))
    }
}

struct HelpShape {
    caps: Caps,
    active: Option<usize>,
}

/// The first signatures, and the active one.
struct List {
    caps: Caps,
    active: Option<usize>,
}

/// What is kept of a list; what is malformed keeps its place.
#[derive(Default)]
struct Kept {
    first: Vec<Option<Signature>>,
    /// The active one, where it is none of the first.
    far: Option<Signature>,
    total: usize,
}

impl<'de> Shape<'de> for List {
    type Value = Result<Kept, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Kept::default())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let (mut kept, mut number) = (Kept::default(), 0);
        while let Some(read) = item(&mut array, SignatureShape { caps: self.caps })? {
            kept.total += usize::from(read.is_some());
            if number < MANY {
                kept.first.push(read);
            } else if Some(number) == self.active {
                kept.far = read;
            }
            number += 1;
        }
        Ok(Ok(kept))
    }
}

impl<'de> Shape<'de> for HelpShape {
    type Value = Result<Signatures, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Signatures::default())
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut list = Err(Found::Without("signatures"));
        let mut parameter = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                "signatures" => {
                    let shape = List { caps: self.caps, active: self.active };
                    list = value(&mut object, shape)?.map_err(|_| Found::Without("signatures"));
                }
                "activeParameter" => parameter = value(&mut object, Ordinal)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(list.map(|Kept { first, far, total }| {
            // The active one is told by number, so those dropped before it count.
            let active = self.active.unwrap_or(0);
            let active = match first.get(active) {
                _ if far.is_some() => first.iter().flatten().count(),
                Some(Some(_)) => first[..active].iter().flatten().count(),
                _ => 0,
            };
            Signatures {
                signatures: first.into_iter().flatten().chain(far).collect(),
                active_signature: u32::try_from(active).unwrap_or(0),
                active_parameter: parameter,
                total,
            }
        }))
    }
}

/// A signature; nothing where it is malformed.
#[derive(Clone, Copy)]
struct SignatureShape {
    caps: Caps,
}

impl<'de> Shape<'de> for SignatureShape {
    type Value = Option<Signature>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut signature = Signature::default();
        let (mut label, mut labels) = (None, Vec::new());
        while let Some(key) = key(&mut object)? {
            match &*key {
                "label" => label = value(&mut object, Short(self.caps.line))?,
                "documentation" => signature.documentation = value(&mut object, Documentation(self.caps.text))?,
                "parameters" => {
                    let shape = Many { cap: MANY, each: ParameterShape { cap: self.caps.line } };
                    labels = value(&mut object, shape)?.map(|list| list.items).unwrap_or_default();
                }
                "activeParameter" => signature.active_parameter = value(&mut object, Ordinal)?,
                _ => skip(&mut object)?,
            }
        }
        let Some(label) = label else { return Ok(None) };
        let unit = unit_of(&label, &labels);
        signature.parameters = labels.into_iter().map(|parameter| parameter.within(&label, unit)).collect();
        signature.label = label;
        Ok(Some(signature))
    }
}

/// A parameter's label, before the signature's own is known.
enum Label {
    Text(String),
    Offsets(u32, u32),
}

/// How far a character moves an offset.
type Unit = fn(char) -> usize;

/// LSP's own first; ty counts bytes, others code points.
const UNITS: [Unit; 3] = [char::len_utf16, char::len_utf8, |_| 1];

/// The first unit in which every offset falls where a parameter can begin or end.
fn unit_of(label: &str, labels: &[Label]) -> Unit {
    if label.is_ascii() {
        return UNITS[0];
    }
    let fits = |unit: &Unit| {
        labels.iter().all(|parameter| match parameter {
            Label::Text(_) => true,
            Label::Offsets(start, end) => {
                let (start, end) = (byte(label, *start, *unit), byte(label, *end, *unit));
                start < end && is_parameter(&label[..start], &label[start..end], &label[end..])
            }
        })
    };
    UNITS.into_iter().find(fits).unwrap_or(UNITS[0])
}

/// Whether a part of a label can be a parameter: no half words, no blanks or commas at its ends, no bracket alone.
fn is_parameter(before: &str, part: &str, after: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let whole = !before.ends_with(word) && !after.starts_with(word);
    let mut open = 0_i32;
    let balanced = part.chars().all(|c| {
        open += match c {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        open >= 0
    });
    let edge = |c: char| c.is_whitespace() || c == ',';
    whole && balanced && open == 0 && !part.starts_with(edge) && !part.ends_with(edge)
}

/// Where in the label an offset is; past its end: the end.
fn byte(label: &str, offset: u32, unit: Unit) -> usize {
    let mut units = 0;
    for (at, c) in label.char_indices() {
        if units >= offset as usize {
            return at;
        }
        units += unit(c);
    }
    label.len()
}

impl Label {
    fn within(self, label: &str, unit: Unit) -> String {
        match self {
            Self::Text(text) => text,
            Self::Offsets(start, end) => {
                let start = byte(label, start, unit);
                label[start..byte(label, end, unit).max(start)].to_owned()
            }
        }
    }
}

/// A parameter; a malformed one keeps its place with an empty label, since the active one is told by number.
#[derive(Clone, Copy)]
struct ParameterShape {
    cap: usize,
}

impl<'de> Shape<'de> for ParameterShape {
    type Value = Option<Label>;

    fn other(self, _: Found) -> Option<Label> {
        Some(Label::Text(String::new()))
    }

    fn text(self, value: &str) -> Option<Label> {
        Some(LabelShape { cap: self.cap }.text(value))
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Label>, A::Error> {
        let mut label = Label::Text(String::new());
        while let Some(key) = key(&mut object)? {
            match &*key {
                "label" => label = value(&mut object, LabelShape { cap: self.cap })?,
                _ => skip(&mut object)?,
            }
        }
        Ok(Some(label))
    }
}

struct LabelShape {
    cap: usize,
}

impl<'de> Shape<'de> for LabelShape {
    type Value = Label;

    fn other(self, _: Found) -> Label {
        Label::Text(String::new())
    }

    fn text(self, value: &str) -> Label {
        Label::Text(Short(self.cap).text(value).unwrap_or_default())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Label, A::Error> {
        let mut offsets = [0; 2];
        let mut count = 0;
        while let Some(offset) = item(&mut array, Unsigned)? {
            if let Some(slot) = offsets.get_mut(count) {
                *slot = offset.unwrap_or(0);
            }
            count += 1;
        }
        Ok(Label::Offsets(offsets[0], offsets[1]))
    }
}
