//! `textDocument/hover`: `MarkupContent`, a `MarkedString` in both forms, or a list of them.

use serde::de::{MapAccess, SeqAccess};

use super::basic::{RangeShape, Short, cut};
use super::markdown;
use super::shape::{Shape, item, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{Hover, HoverSection};

/// Sections of a hover that are kept.
const SECTIONS: usize = 256;
/// Bytes of the name of a code section's language.
const LANGUAGE: usize = 40;

/// Reads a hover.
///
/// # Errors
///
/// When the answer is neither `null` nor an object with `contents`.
pub fn hover(raw: &[u8], caps: &Caps) -> Result<Hover, ReadError> {
    read(raw, "a hover or null", || HoverShape { cap: caps.text })
}

struct HoverShape {
    cap: usize,
}

impl<'de> Shape<'de> for HoverShape {
    type Value = Result<Hover, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Hover::default())
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut range = None;
        let mut contents = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                "contents" => {
                    let mut gathered = Gathered { left: self.cap, ..Gathered::default() };
                    value(&mut object, Contents { into: &mut gathered, nested: false })?;
                    contents = Some(gathered);
                }
                "range" => range = value(&mut object, RangeShape)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(contents
            .map(|gathered| Hover { sections: gathered.sections, range, truncated: gathered.truncated })
            .ok_or(Found::Without("contents")))
    }
}

/// Sections read so far, with what may still come.
#[derive(Default)]
struct Gathered {
    sections: Vec<HoverSection>,
    left: usize,
    truncated: bool,
}

impl Gathered {
    fn markdown(&mut self, text: &str) {
        let kept = self.spend(text);
        let room = SECTIONS.saturating_sub(self.sections.len());
        let mut sections = markdown::split(kept);
        if sections.len() > room {
            self.truncated = true;
            sections.truncate(room);
        }
        self.sections.append(&mut sections);
    }

    fn plain(&mut self, text: &str) {
        let kept = self.spend(text).trim_matches(['\n', '\r']);
        if !kept.trim().is_empty() {
            self.push(HoverSection::Prose(kept.to_owned()));
        }
    }

    fn code(&mut self, language: &str, text: &str) {
        let kept = self.spend(text).trim_matches(['\n', '\r']);
        if !kept.trim().is_empty() {
            self.push(HoverSection::Code { language: cut(language, LANGUAGE).to_owned(), text: kept.to_owned() });
        }
    }

    fn push(&mut self, section: HoverSection) {
        if self.sections.len() < SECTIONS {
            self.sections.push(section);
        } else {
            self.truncated = true;
        }
    }

    /// What of `text` there is still room for.
    fn spend<'t>(&mut self, text: &'t str) -> &'t str {
        let kept = cut(text, self.left);
        self.left -= kept.len();
        self.truncated |= kept.len() < text.len();
        kept
    }
}

struct Contents<'g> {
    into: &'g mut Gathered,
    /// Inside a list: a list in a list is not read.
    nested: bool,
}

impl<'de> Shape<'de> for Contents<'_> {
    type Value = ();

    fn other(self, _: Found) {}

    fn text(self, value: &str) {
        self.into.markdown(value);
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        if self.nested {
            return super::shape::skip_array(array);
        }
        while item(&mut array, Contents { into: self.into, nested: true })?.is_some() {}
        Ok(())
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let (mut kind, mut language, mut text) = (None, None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "kind" => kind = value(&mut object, Short(LANGUAGE))?,
                "language" => language = value(&mut object, Short(LANGUAGE))?,
                "value" => text = value(&mut object, Long(self.into.left))?,
                _ => skip(&mut object)?,
            }
        }
        let Some((text, cut)) = text else { return Ok(()) };
        self.into.truncated |= cut;
        match (kind.as_deref(), language) {
            (_, Some(language)) => self.into.code(&language, &text),
            (Some("plaintext"), None) => self.into.plain(&text),
            _ => self.into.markdown(&text),
        }
        Ok(())
    }
}

/// A text of at most so many bytes, with whether it was cut.
struct Long(usize);

impl Shape<'_> for Long {
    type Value = Option<(String, bool)>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn text(self, value: &str) -> Self::Value {
        let kept = cut(value, self.0);
        Some((kept.to_owned(), kept.len() < value.len()))
    }
}
