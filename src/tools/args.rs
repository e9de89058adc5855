//! Arguments as agents send them: several spellings, numbers as strings; whatever is wrong is told with what was
//! expected.

use serde_json::{Map, Value};

use super::outcome::{Code, Failure};

/// The arguments of one call. Each reading marks its names as known; [`Args::finish`] refuses the rest.
#[derive(Debug)]
pub(super) struct Args<'a> {
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

/// Names accepted beside the listed ones: what other tools and LSP itself call the same thing.
fn aliases(name: &str) -> &'static [&'static str] {
    match name {
        "file_path" => &["path", "file", "uri", "filePath", "file_name"],
        "column" => &["character", "col"],
        "symbol" => &["symbol_name", "name"],
        "query" => &["q"],
        "include_declaration" => &["includeDeclaration"],
        "new_name" => &["newName"],
        "start_line" => &["startLine"],
        "start_column" => &["start_col", "start_character", "startColumn", "startCharacter"],
        "end_line" => &["endLine"],
        "end_column" => &["end_col", "end_character", "endColumn", "endCharacter"],
        "from" => &["old_path", "source"],
        "to" => &["new_path", "destination"],
        "plan" => &["plan_id"],
        _ => &[],
    }
}

/// A failure of code `invalid`.
pub(super) fn invalid(what: impl Into<String>, next: impl Into<String>) -> Failure {
    Failure { code: Code::Invalid, what: what.into(), next: next.into(), details: Vec::new(), servers: Vec::new() }
}

impl<'a> Args<'a> {
    /// Reads from `map`.
    pub(super) fn new(map: &'a Map<String, Value>) -> Self {
        Self { map, known: Vec::new() }
    }

    /// The value under `name` or one of its aliases; JSON null counts as left out.
    fn value(&mut self, name: &'static str) -> Result<Option<(&'a str, &'a Value)>, Failure> {
        self.known.push(name);
        let mut found = None;
        for key in std::iter::once(&name).chain(aliases(name)) {
            if let Some((key, value)) = self.map.get_key_value(*key)
                && !value.is_null()
            {
                if let Some((first, _)) = found {
                    return Err(invalid(format!("`{first}` and `{key}` mean the same"), format!("give `{name}` only")));
                }
                found = Some((key.as_str(), value));
            }
        }
        Ok(found)
    }

    /// A text; surrounding white space is not part of it.
    ///
    /// # Errors
    /// `invalid` for any other JSON type.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, Failure> {
        match self.value(name)? {
            None => Ok(None),
            Some((_, Value::String(text))) => {
                Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty() || name == "query"))
            }
            Some((key, Value::Number(number))) if name == "query" || name == "symbol" => {
                let _ = key;
                Ok(Some(number.to_string()))
            }
            Some((key, other)) => {
                Err(invalid(format!("`{key}` is {}", kind(other)), format!("give `{key}` as a string")))
            }
        }
    }

    /// A whole number of at least 1, also as a string.
    ///
    /// # Errors
    /// `invalid` for anything else.
    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<u32>, Failure> {
        let Some((key, value)) = self.value(name)? else { return Ok(None) };
        let number = match value {
            Value::Number(number) => {
                number.as_u64().or_else(|| number.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0).map(|f| f as u64))
            }
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number.and_then(|number| u32::try_from(number).ok()) {
            Some(0) => Err(invalid(format!("`{key}` is 0"), format!("count `{key}` from 1"))),
            Some(number) => Ok(Some(number)),
            None => Err(invalid(
                format!("`{key}` is {}", kind(value)),
                format!("give `{key}` as a whole number, counted from 1"),
            )),
        }
    }

    /// Words: a list of strings, or one string with commas.
    ///
    /// # Errors
    /// `invalid` for any other JSON.
    pub(super) fn words(&mut self, name: &'static str) -> Result<Vec<String>, Failure> {
        let wrong = |key: &str, value: &Value| {
            invalid(
                format!("`{key}` is {}", kind(value)),
                format!("give `{key}` as a string, words with commas between"),
            )
        };
        let words: Vec<String> = match self.value(name)? {
            None => Vec::new(),
            Some((_, Value::String(text))) => text.split(',').map(str::to_owned).collect(),
            Some((key, Value::Array(list))) => list
                .iter()
                .map(|word| word.as_str().map(str::to_owned).ok_or_else(|| wrong(key, word)))
                .collect::<Result<_, _>>()?,
            Some((key, other)) => return Err(wrong(key, other)),
        };
        Ok(words.into_iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect())
    }

    /// A switch, also as a string.
    ///
    /// # Errors
    /// `invalid` for anything else.
    pub(super) fn switch(&mut self, name: &'static str, default: bool) -> Result<bool, Failure> {
        match self.value(name)? {
            None => Ok(default),
            Some((_, Value::Bool(on))) => Ok(*on),
            Some((_, Value::String(text))) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some((_, Value::String(text))) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some((key, other)) => {
                Err(invalid(format!("`{key}` is {}", kind(other)), format!("give `{key}` as true or false")))
            }
        }
    }

    /// One of `choices`, in any case and with `-` for `_`; the first one by default.
    ///
    /// # Errors
    /// `invalid` with all choices.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
        default: T,
    ) -> Result<T, Failure> {
        let Some(given) = self.text(name)? else { return Ok(default) };
        let folded = given.to_ascii_lowercase().replace('-', "_");
        choices.iter().find(|(word, _)| *word == folded).map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            invalid(format!("`{name}` is {given:?}"), format!("give one of {}", words.join(", ")))
        })
    }

    /// Refuses what no reading asked for.
    ///
    /// # Errors
    /// `invalid` naming the first unknown argument and all known ones.
    pub(super) fn finish(self) -> Result<(), Failure> {
        for key in self.map.keys() {
            let known = self.known.iter().any(|name| name == key || aliases(name).contains(&key.as_str()));
            if !known {
                return Err(invalid(
                    format!("there is no argument `{key}`"),
                    format!("the arguments are {}", self.known.join(", ")),
                ));
            }
        }
        Ok(())
    }
}

/// What a value is, in the words of a message.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(on) => on.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => panic!("an object"),
        }
    }

    #[test]
    fn spellings_and_numbers_as_strings() {
        let map = map(serde_json::json!({"uri": " a.py ", "line": "12", "character": 3.0, "symbol": null}));
        let mut args = Args::new(&map);
        assert_eq!(args.text("file_path").unwrap().as_deref(), Some("a.py"));
        assert_eq!(args.number("line").unwrap(), Some(12));
        assert_eq!(args.number("column").unwrap(), Some(3));
        assert_eq!(args.text("symbol").unwrap(), None);
        args.finish().unwrap();
    }

    #[test]
    fn what_is_wrong_is_told_with_what_was_expected() {
        let map = map(
            serde_json::json!({"line": 0, "column": "x", "scope": "everything", "command": "sh", "path": "a", "file": "b"}),
        );
        let mut args = Args::new(&map);
        assert_eq!(args.number("line").unwrap_err().next, "count `line` from 1");
        assert_eq!(args.number("column").unwrap_err().next, "give `column` as a whole number, counted from 1");
        assert_eq!(
            args.choice("scope", &[("file", 1), ("workspace", 2)], 1).unwrap_err().next,
            "give one of file, workspace"
        );
        assert_eq!(args.text("file_path").unwrap_err().what, "`path` and `file` mean the same");
        assert_eq!(args.finish().unwrap_err().what, "there is no argument `command`");
    }
}
