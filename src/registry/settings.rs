//! A server's settings as a tree: dotted keys nested, sections looked up.

use serde_json::{Map, Value, map::Entry};

use super::definition::Unset;

/// The settings of one server for one root, with all variables expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    tree: Value,
    unset: Unset,
}

impl ServerSettings {
    pub(super) fn new(tree: Map<String, Value>, unset: Unset) -> Self {
        Self { tree: Value::Object(tree), unset }
    }

    /// The whole tree: what `workspace/didChangeConfiguration` carries.
    pub fn tree(&self) -> &Value {
        &self.tree
    }

    pub fn is_empty(&self) -> bool {
        self.tree.as_object().is_none_or(Map::is_empty)
    }

    /// What `workspace/configuration` is answered for a section: `None` and `""` mean the whole.
    pub fn lookup(&self, section: Option<&str>) -> Value {
        let found = match section {
            None | Some("") => (!self.is_empty()).then_some(&self.tree),
            Some(path) => find(&self.tree, path),
        };
        found.cloned().unwrap_or_else(|| self.unset.value())
    }
}

/// Descends by dots; a key that has dots itself (`"**/*.py"`) is found too.
fn find<'a>(tree: &'a Value, path: &str) -> Option<&'a Value> {
    let object = tree.as_object()?;
    if let Some(value) = object.get(path) {
        return Some(value);
    }
    path.match_indices('.').find_map(|(dot, _)| find(object.get(&path[..dot])?, &path[dot + 1..]))
}

/// Two keys that cannot both be: `a = 1` and `a.b = 2`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is set both to a value and to a table")]
pub(super) struct Conflict {
    key: String,
}

/// Nests the dots of the keys of the first level: those below may be globs and file names.
pub(super) fn nest(flat: &Map<String, Value>) -> Result<Map<String, Value>, Conflict> {
    let mut tree = Map::new();
    for (key, value) in flat {
        let mut nested = value.clone();
        for part in key.split('.').rev() {
            nested = Value::Object(Map::from_iter([(part.to_owned(), nested)]));
        }
        if let Value::Object(nested) = nested {
            join(&mut tree, nested, key)?;
        }
    }
    Ok(tree)
}

fn join(tree: &mut Map<String, Value>, other: Map<String, Value>, key: &str) -> Result<(), Conflict> {
    for (name, value) in other {
        match tree.entry(name) {
            Entry::Vacant(vacant) => {
                vacant.insert(value);
            }
            Entry::Occupied(mut occupied) => match (occupied.get_mut(), value) {
                (Value::Object(old), Value::Object(new)) => join(old, new, key)?,
                _ => return Err(Conflict { key: key.to_owned() }),
            },
        }
    }
    Ok(())
}

/// Lays `over` on `tree`: tables are merged, anything else is replaced.
pub(super) fn overlay(tree: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (tree.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => overlay(old, new),
            (_, value) => {
                tree.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn settings(flat: &Value, unset: Unset) -> ServerSettings {
        ServerSettings::new(nest(flat.as_object().unwrap()).unwrap(), unset)
    }

    #[test]
    fn dotted_keys_nest_and_meet() {
        let settings = settings(
            &json!({"python.analysis.mode": "strict", "python": {"analysis": {"x": 1}}, "files": {"**/*.py": true}}),
            Unset::Empty,
        );
        assert_eq!(
            *settings.tree(),
            json!({"python": {"analysis": {"mode": "strict", "x": 1}}, "files": {"**/*.py": true}})
        );
        assert_eq!(settings.lookup(Some("python.analysis")), json!({"mode": "strict", "x": 1}));
        assert_eq!(settings.lookup(Some("python.analysis.mode")), json!("strict"));
        assert_eq!(settings.lookup(Some("files.**/*.py")), json!(true));
        for whole in [None, Some("")] {
            assert_eq!(settings.lookup(whole), *settings.tree());
        }
        for missing in ["python.analysis.y", "python.analysis.mode.deeper", "x", ".", "python.", ".python"] {
            assert_eq!(settings.lookup(Some(missing)), json!({}), "{missing}");
        }
    }

    #[test]
    fn what_is_not_set_is_answered_as_the_definition_says() {
        let set = settings(&json!({"a": 1}), Unset::Null);
        assert_eq!(set.lookup(Some("a")), json!(1));
        assert_eq!(set.lookup(Some("b")), Value::Null);
        assert_eq!(settings(&json!({}), Unset::Null).lookup(None), Value::Null);
        assert_eq!(settings(&json!({}), Unset::Empty).lookup(None), json!({}));
    }

    #[test]
    fn a_value_and_a_table_conflict() {
        for flat in [json!({"a": 1, "a.b": 2}), json!({"a.b": {"c": 1}, "a.b.c.d": 2})] {
            assert!(nest(flat.as_object().unwrap()).is_err(), "{flat}");
        }
    }

    #[test]
    fn the_upper_layer_wins_key_by_key() {
        let mut tree = nest(json!({"a.b": 1, "a.c": [1], "d": 1}).as_object().unwrap()).unwrap();
        overlay(&mut tree, nest(json!({"a.b": 2, "a.c": [], "d.e": 3}).as_object().unwrap()).unwrap());
        assert_eq!(Value::Object(tree), json!({"a": {"b": 2, "c": []}, "d": {"e": 3}}));
    }

    proptest! {
        #[test]
        fn every_dotted_key_is_found_again(keys in proptest::collection::btree_map("[a-c]{1,2}(\\.[a-c]{1,2}){0,3}", 0..9, 0..6)) {
            let flat: Map<String, Value> = keys.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            if let Ok(tree) = nest(&flat) {
                let settings = ServerSettings::new(tree, Unset::Null);
                for (key, value) in &keys {
                    prop_assert_eq!(settings.lookup(Some(key)), json!(value));
                }
            }
        }
    }
}
