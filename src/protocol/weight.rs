//! What JSON takes as a tree of values: some texts become a hundred times their size, which is reckoned before they are
//! read. Pure.

use serde_json::Value;

use super::envelope::string_end;

/// The most that one tree may take.
pub const TREE: usize = 8 * 1024 * 1024;

// A map's first node has room for eleven members, a list's first piece for four values.
const MAP: usize = 640;
const LIST: usize = 160;
const VALUE: usize = 112;

/// About what the tree of a text takes, told from its bytes: rather too much than too little.
fn of_text(text: &[u8]) -> usize {
    let (mut weight, mut at) = (text.len(), 0);
    while at < text.len() {
        match text[at] {
            b'{' => weight += MAP,
            b'[' => weight += LIST,
            b',' => weight += VALUE,
            b'"' => at = string_end(text, at + 1),
            _ => {}
        }
        at += 1;
    }
    weight
}

/// About what a tree takes that is there.
pub(super) fn of_tree(value: &Value) -> usize {
    match value {
        Value::String(text) => VALUE + text.len(),
        Value::Array(items) => LIST + items.iter().map(of_tree).sum::<usize>(),
        Value::Object(members) => {
            MAP + members.iter().map(|(key, value)| VALUE + key.len() + of_tree(value)).sum::<usize>()
        }
        _ => VALUE,
    }
}

/// Whether a text is small enough to be made a tree.
pub fn is_light(text: &[u8]) -> bool {
    text.len() <= TREE && of_text(text) <= TREE
}

/// The tree of a text, if it is JSON and small enough.
pub fn tree(text: &[u8]) -> Option<Value> {
    is_light(text).then(|| serde_json::from_slice(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_reckoned_and_what_servers_say_is_light() {
        for piece in ["[0],", "{},", "{\"\":0},", "[[]],", "0,", "\"a\","] {
            let text = format!("[{}0]", piece.repeat(2 * TREE / piece.len() / 20));
            assert!(!is_light(text.as_bytes()), "{piece}");
            assert_eq!(tree(text.as_bytes()), None);
        }
        let watchers = r#"{"globPattern":{"baseUri":"file:///home/user/project/crates/one","pattern":"**/*.rs"}},"#;
        let options = format!("{{\"watchers\":[{}null]}}", watchers.repeat(3_000));
        assert!(tree(options.as_bytes()).is_some());
        // Code in a text is no structure.
        let code = serde_json::json!({ "newText": "call({[a, \"b\", 'c']});\n".repeat(40_000) }).to_string();
        assert!(tree(code.as_bytes()).is_some());
    }

    #[test]
    fn a_tree_weighs_about_what_its_text_does() {
        let text = r#"{"a":[1,2,{"b":"c"}],"d":null,"e":"ffff"}"#;
        let tree = tree(text.as_bytes()).unwrap();
        let (text, tree) = (of_text(text.as_bytes()), of_tree(&tree));
        assert!(tree >= text / 2 && tree <= text * 2, "{text} {tree}");
    }
}
