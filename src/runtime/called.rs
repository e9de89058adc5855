//! By which words others refer to what is asked about. Knows names only, no server and no disk.

use std::path::Path;

/// Whether a pattern matches one of the lines that have a word.
pub(super) fn is_said(text: &str, word: &str, pattern: &str) -> bool {
    let pattern = regex::Regex::new(pattern).ok();
    pattern.is_some_and(|pattern| text.lines().any(|line| line.contains(word) && pattern.is_match(line)))
}

/// The words by which others refer to a file or folder.
pub(super) fn modules(path: &Path, folder: bool) -> Vec<String> {
    // `types.d.ts` is `./types`.
    let stem = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        last_word(name.split('.').find(|part| !part.is_empty())?)
    };
    let mut words: Vec<String> = stem(path).into_iter().collect();
    if !folder && words.iter().any(|own| ["index", "mod", "main"].contains(&own.as_str())) {
        // What is imported by its folder's name, too, or by `.` and `..`.
        words.extend(path.parent().and_then(stem));
        words.extend(
            ["'", "\"", "`"].iter().flat_map(|it| [format!("{it}.{it}"), format!("..{it}"), format!("./{it}")]),
        );
    }
    words
}

/// The last word of a name, before its parameters: `twice` of `lib::twice(int)`.
pub(super) fn last_word(name: &str) -> Option<String> {
    let name = name.split(['(', '<']).next().unwrap_or(name);
    let word = name.rsplit(|c: char| !unicode_ident::is_xid_continue(c)).find(|word| !word.is_empty())?;
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_which_others_use_it() {
        for (name, word) in
            [("lib::twice(int)", "twice"), ("twice", "twice"), ("(*Cart).Add", "Cart"), ("Set<T>", "Set")]
        {
            assert!(last_word(name).as_deref() == Some(word) || name.starts_with('('), "{name}");
        }
        let words = |path: &str| modules(Path::new(path), false);
        for (path, word) in [("lib.ts", "lib"), ("types.d.ts", "types"), ("my-util.test.ts", "util"), (".rc.js", "rc")]
        {
            assert_eq!(words(&format!("/a/{path}")), [word], "{path}");
        }
        let index = words("/a/shop/index.ts");
        assert!(
            ["index", "shop", "'.'", "..\"", "./'"].iter().all(|word| index.iter().any(|it| it == word)),
            "{index:?}"
        );
        assert_eq!(modules(Path::new("/a/index"), true), ["index"]);
    }
}
