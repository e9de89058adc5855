//! Diagnostics in tsserver's own form, the answer to its `…DiagnosticsSync` commands: lines and offsets count from 1,
//! in UTF-16.

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Documentation, Short, Unsigned};
use super::keep::Keep;
use super::keys::Two;
use super::problems::RELATED;
use super::shape::{Many, Number, Shape, item, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::positions::{Position, Range};
use crate::protocol::types::{Diagnostic, FileRef, Listed, Related, Severity, Wire};

/// Reads the answer to a command of tsserver's that asks for problems.
///
/// # Errors
///
/// When it is no object with a list in `body`: it has refused, or has answered something else.
pub fn tsserver_problems(raw: &[u8], caps: &Caps) -> Result<Listed, ReadError> {
    read(raw, "tsserver's answer with problems in its body", || Response(Body { caps }))
}

/// The answer to a command, in whose `body` is a list.
pub(super) struct Response<B>(pub B);

impl<'de, T, B: Shape<'de, Value = Result<T, Found>> + Copy> Shape<'de> for Response<B> {
    type Value = Result<T, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut body = Err(Found::Without("body"));
        while let Some(key) = key(&mut object)? {
            match &*key {
                "body" => body = value(&mut object, self.0)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(body)
    }
}

#[derive(Clone, Copy)]
struct Body<'c> {
    caps: &'c Caps,
}

impl<'de> Shape<'de> for Body<'_> {
    type Value = Result<Listed, Found>;

    fn other(self, _: Found) -> Self::Value {
        Err(Found::Without("body"))
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let keep = Keep::new(self.caps.items);
        let mut list = keep.list();
        while let Some(read) = item(&mut array, Problem { caps: self.caps })? {
            match read {
                Some(problem) => list.add(problem),
                None => list.malformed(),
            }
        }
        Ok(Ok(keep.into_lists().pop().unwrap_or_default()))
    }
}

struct Problem<'c> {
    caps: &'c Caps,
}

impl<'de> Shape<'de> for Problem<'_> {
    type Value = Option<Diagnostic>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let caps = self.caps;
        let (mut start, mut end, mut message) = (None, None, None);
        let (mut severity, mut code, mut source) = (Severity::Error, None, None);
        let (mut unnecessary, mut deprecated, mut related) = (false, false, Vec::new());
        while let Some(key) = key(&mut object)? {
            match &*key {
                "start" => start = value(&mut object, Place)?,
                "end" => end = value(&mut object, Place)?,
                "text" => message = value(&mut object, Documentation(caps.message))?,
                "category" => severity = value(&mut object, Category)?,
                "code" => code = value(&mut object, Code)?,
                "source" => source = value(&mut object, Short(caps.name))?,
                "reportsUnnecessary" => unnecessary = value(&mut object, Reported)?,
                "reportsDeprecated" => deprecated = value(&mut object, Reported)?,
                "relatedInformation" => {
                    let list = value(&mut object, Many { cap: RELATED, each: Elsewhere { caps } })?;
                    related = list.map(|list| list.items).unwrap_or_default();
                }
                _ => skip(&mut object)?,
            }
        }
        let range = start.zip(end).map(|(start, end)| Range { start, end });
        let source = source.or_else(|| Some("typescript".to_owned()));
        Ok(range.zip(message).map(|(range, message)| Diagnostic {
            range,
            severity,
            code,
            source,
            message,
            unnecessary,
            deprecated,
            related,
            wire: Wire::default(),
        }))
    }
}

/// `{"line": 1, "offset": 1}`.
#[derive(Clone, Copy)]
pub(super) struct Place;

impl<'de> Shape<'de> for Place {
    type Value = Option<Position>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        let both = Two { keys: ["line", "offset"], each: Unsigned }.object(object)?;
        Ok(both.map(|(line, offset)| Position { line: line.saturating_sub(1), character: offset.saturating_sub(1) }))
    }
}

struct Category;

impl Shape<'_> for Category {
    type Value = Severity;

    fn other(self, _: Found) -> Severity {
        Severity::Error
    }

    fn text(self, value: &str) -> Severity {
        match value {
            "warning" => Severity::Warning,
            "message" => Severity::Info,
            "suggestion" => Severity::Hint,
            _ => Severity::Error,
        }
    }
}

struct Code;

impl Shape<'_> for Code {
    type Value = Option<String>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn number(self, value: Number) -> Self::Value {
        Some(value.to_string())
    }
}

/// There, as `{}` or `true`.
struct Reported;

impl<'de> Shape<'de> for Reported {
    type Value = bool;

    fn other(self, found: Found) -> bool {
        found == Found::Object
    }

    fn boolean(self, value: bool) -> bool {
        value
    }
}

#[derive(Clone, Copy)]
struct Elsewhere<'c> {
    caps: &'c Caps,
}

impl<'de> Shape<'de> for Elsewhere<'_> {
    type Value = Option<Related>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut span, mut message) = (None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "span" => span = value(&mut object, Span { name: self.caps.line })?,
                "message" => message = value(&mut object, Documentation(self.caps.message))?,
                _ => skip(&mut object)?,
            }
        }
        Ok(span.map(|(file, range)| Related { file, range, message: message.unwrap_or_default() }))
    }
}

struct Span {
    name: usize,
}

impl<'de> Shape<'de> for Span {
    type Value = Option<(FileRef, Range)>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut file, mut start, mut end) = (None, None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "file" => file = value(&mut object, Short(self.name))?,
                "start" => start = value(&mut object, Place)?,
                "end" => end = value(&mut object, Place)?,
                _ => skip(&mut object)?,
            }
        }
        let range = start.zip(end).map(|(start, end)| Range { start, end });
        Ok(file.zip(range).map(|(file, range)| (file_of(file), range)))
    }
}

/// A file as tsserver names it.
pub(super) fn file_of(name: String) -> FileRef {
    if name.starts_with('/') { FileRef::Path(name.into()) } else { FileRef::Foreign(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_tsserver() {
        let raw = r#"{"seq":0,"type":"response","success":true,"body":[
            {"start":{"line":3,"offset":14},"end":{"line":3,"offset":17},"text":"Type 'number' is not assignable","code":2322,"category":"error",
             "relatedInformation":[{"span":{"start":{"line":1,"offset":1},"end":{"line":1,"offset":4},"file":"/ws/a.ts"},"message":"declared here","category":"message","code":1}]},
            {"start":{"line":1,"offset":1},"end":{"line":1,"offset":2},"text":"'x' is declared but never used.","code":6133,"category":"suggestion","reportsUnnecessary":{},"source":"plug"},
            {"text":"no place"}, 7]}"#;
        let read = tsserver_problems(raw.as_bytes(), &Caps::default()).unwrap();
        assert_eq!((read.told().sum(), read.malformed), (2, 2));
        let [first, second] = &read.items[..] else { panic!("{read:?}") };
        assert_eq!((first.range.start.line, first.range.start.character, first.range.end.character), (2, 13, 16));
        assert_eq!((first.severity, first.code.as_deref()), (Severity::Error, Some("2322")));
        assert_eq!(first.source.as_deref(), Some("typescript"));
        assert_eq!(first.related[0].file, FileRef::Path("/ws/a.ts".into()));
        assert_eq!((second.severity, second.unnecessary, second.deprecated), (Severity::Hint, true, false));
        assert_eq!(second.source.as_deref(), Some("plug"));
        for refused in
            [r#"{"success":false,"message":"No Project."}"#, "null", "[]", r#"{"body":null}"#, r#"{"body":{}}"#]
        {
            assert!(tsserver_problems(refused.as_bytes(), &Caps::default()).is_err(), "{refused}");
        }
    }
}
