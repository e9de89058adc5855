//! `textDocument/signatureHelp`. A parameter's label is text, or two offsets into the signature's label, which LSP
//! counts in UTF-16 whatever encoding was agreed on.

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Documentation, Ordinal, Short, Unsigned};
use super::shape::{Many, Shape, item, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{Signature, Signatures};

/// Signatures and parameters that are kept.
const MANY: usize = 1000;

/// Reads signature help.
///
/// # Errors
///
/// When the answer is neither `null` nor an object with `signatures`.
pub fn signatures(raw: &[u8], caps: &Caps) -> Result<Signatures, ReadError> {
    read(raw, "signature help or null", || HelpShape { caps: *caps })
}

struct HelpShape {
    caps: Caps,
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
        let (mut active, mut parameter) = (None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "signatures" => {
                    let shape = Many { cap: MANY, each: SignatureShape { caps: self.caps } };
                    list = value(&mut object, shape)?.map_err(|_| Found::Without("signatures"));
                }
                "activeSignature" => active = value(&mut object, Ordinal)?,
                "activeParameter" => parameter = value(&mut object, Ordinal)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(list.map(|list| {
            // The active one is told by number, so those dropped before it count.
            let active = active.map_or(0, |active| active as usize);
            let active = match list.items.get(active) {
                Some(Some(_)) => list.items[..active].iter().flatten().count(),
                _ => 0,
            };
            Signatures {
                signatures: list.items.into_iter().flatten().collect(),
                active_signature: u32::try_from(active).unwrap_or(0),
                active_parameter: parameter,
            }
        }))
    }
}

/// A signature; a malformed one keeps its place as `Some(None)`.
#[derive(Clone, Copy)]
struct SignatureShape {
    caps: Caps,
}

impl<'de> Shape<'de> for SignatureShape {
    type Value = Option<Option<Signature>>;

    fn other(self, _: Found) -> Self::Value {
        Some(None)
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
        let Some(label) = label else { return Ok(Some(None)) };
        signature.parameters = labels.into_iter().map(|parameter| parameter.within(&label)).collect();
        signature.label = label;
        Ok(Some(Some(signature)))
    }
}

/// A parameter's label, before the signature's own is known.
enum Label {
    Text(String),
    Offsets(u32, u32),
}

impl Label {
    fn within(self, label: &str) -> String {
        match self {
            Self::Text(text) => text,
            Self::Offsets(start, end) => {
                let mut units = 0;
                let inside = |c: &char| {
                    let here = units;
                    units += c.len_utf16() as u64;
                    here >= u64::from(start) && here < u64::from(end)
                };
                label.chars().filter(inside).collect()
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
