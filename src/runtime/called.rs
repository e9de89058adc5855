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

/// Whether a file goes by this name: what it exports without one is called after `my-shop.ts` or `my-shop/index.ts`.
pub(super) fn is_called(path: &Path, name: &str) -> bool {
    let stem = |path: &Path| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let (own, name): (_, String) = (stem(path), letters(name));
    let own = if own.as_deref() == Some("index") { path.parent().and_then(stem) } else { own };
    !name.is_empty() && own.is_some_and(|own| letters(&own) == name)
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

    #[test]
    fn files_that_go_by_a_name() {
        let called = |path: &str, name: &str| is_called(Path::new(path), name);
        assert!(called("/a/my-shop.ts", "myShop") && called("/a/my_shop/index.ts", "MyShop"));
        assert!(called("/a/shop.test.ts", "shopTest") && called("/a/Größe.ts", "größe"));
        assert!(!called("/a/shop.ts", "shops") && !called("/a/b.ts", "") && !called("/a/b.ts", "_"));
    }
}
