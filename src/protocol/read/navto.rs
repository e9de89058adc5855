//! Symbols in tsserver's own form, the answer to its `navto` command: lines and offsets count from 1, in UTF-16.

use serde::de::{MapAccess, SeqAccess};

use super::basic::Short;
use super::shape::{Shape, key, skip, value};
use super::sought::{BestOf, rank};
use super::tsserver::{Place, Response, file_of};
use super::{Caps, Found, ReadError, read};
use crate::protocol::positions::Range;
use crate::protocol::types::{Capped, SymbolHit, SymbolHits};

/// Reads the answer to a command of tsserver's that searches for `query`; the best are kept.
///
/// # Errors
///
/// When it is no object with a list in `body`: it has refused, or has answered something else.
pub fn tsserver_symbols(raw: &[u8], caps: &Caps, query: &str) -> Result<SymbolHits, ReadError> {
    let list = read(raw, "tsserver's answer with symbols in its body", || Response(Body { caps, query }))?;
    Ok(SymbolHits { items: list.items, total: list.total, dropped: list.dropped })
}

#[derive(Clone, Copy)]
struct Body<'c> {
    caps: &'c Caps,
    query: &'c str,
}

impl<'de> Shape<'de> for Body<'_> {
    type Value = Result<Capped<SymbolHit>, Found>;

    fn other(self, _: Found) -> Self::Value {
        Err(Found::Without("body"))
    }

    fn array<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        let order =
            |one: &SymbolHit, other: &SymbolHit| rank(&one.name, self.query).cmp(&rank(&other.name, self.query));
        BestOf { cap: self.caps.items, each: Hit { name: self.caps.name }, order }.array(array)
    }
}

#[derive(Clone, Copy)]
struct Hit {
    name: usize,
}

impl<'de> Shape<'de> for Hit {
    type Value = Option<SymbolHit>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut name, mut kind, mut modifiers, mut container) = (None, None, None, None);
        let (mut file, mut start, mut end) = (None, None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "name" => name = value(&mut object, Short(self.name))?,
                "kind" => kind = value(&mut object, Short(self.name))?,
                "kindModifiers" => modifiers = value(&mut object, Short(self.name))?,
                "containerName" => container = value(&mut object, Short(self.name))?,
                "file" => file = value(&mut object, Short(LONGEST_PATH))?,
                "start" => start = value(&mut object, Place)?,
                "end" => end = value(&mut object, Place)?,
                _ => skip(&mut object)?,
            }
        }
        let modifiers: String = modifiers.unwrap_or_default();
        Ok(name.zip(file).map(|(name, file)| SymbolHit {
            name,
            kind: number(kind.as_deref().unwrap_or_default()),
            container: container.filter(|container: &String| !container.is_empty()),
            file: file_of(file),
            range: start.zip(end).map(|(start, end)| Range { start, end }),
            deprecated: modifiers.split(',').any(|modifier| modifier == "deprecated"),
        }))
    }
}

/// Bytes of a path.
const LONGEST_PATH: usize = 4096;

/// The number that LSP has for a kind, as typescript-language-server gives it.
fn number(kind: &str) -> u8 {
    match kind {
        "module" | "external module name" | "script" => 2,
        "class" | "local class" => 5,
        "method" | "getter" | "setter" => 6,
        "property" | "accessor" => 7,
        "constructor" => 9,
        "enum" => 10,
        "interface" => 11,
        "function" | "local function" => 12,
        "const" | "enum member" => 14,
        _ => 13,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::types::FileRef;

    #[test]
    fn symbols_of_tsserver() {
        let raw = r#"{"seq":0,"type":"response","success":true,"body":[
            {"name":"twice","kind":"function","kindModifiers":"export,deprecated","matchKind":"exact","isCaseSensitive":true,
             "file":"/ws/a.ts","start":{"line":3,"offset":14},"end":{"line":3,"offset":17},"containerName":"lib","containerKind":"module"},
            {"name":"Two","kind":"class","file":"/ws/b.ts"}, {"name":"lost"}, 7]}"#;
        let read = tsserver_symbols(raw.as_bytes(), &Caps::default(), "t").unwrap();
        assert_eq!((read.total, read.dropped), (2, 2));
        let [first, second] = &read.items[..] else { panic!("{read:?}") };
        assert_eq!((first.name.as_str(), first.kind, first.container.as_deref()), ("twice", 12, Some("lib")));
        let range = first.range.unwrap();
        assert_eq!((range.start.line, range.start.character, range.end.character), (2, 13, 16));
        assert_eq!((&first.file, first.deprecated), (&FileRef::Path("/ws/a.ts".into()), true));
        assert_eq!((second.kind, second.range, second.deprecated), (5, None, false));
        for refused in
            [r#"{"success":false,"message":"No Project."}"#, "null", "[]", r#"{"body":null}"#, r#"{"body":{}}"#]
        {
            assert!(tsserver_symbols(refused.as_bytes(), &Caps::default(), "t").is_err(), "{refused}");
        }
    }
}
