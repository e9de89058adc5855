//! `file:` URIs and paths, both ways: the only encoder and the only decoder in the program. `url` does the work: string
//! joining cut paths at `#` and decoded names that really held a `%`.

use std::path::{Path, PathBuf};

use url::{Host, Url};

/// The path that a `file:` URI names; `None` for another scheme, another machine, or no path that a file can have.
#[must_use]
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    match url.host() {
        None | Some(Host::Domain("" | "localhost")) => {
            url.to_file_path().ok().filter(|path| !path.as_os_str().as_encoded_bytes().contains(&0))
        }
        Some(_) => None,
    }
}

/// The `file:` URI of an absolute path; `None` for a relative one.
///
/// Brackets and the like are encoded although the URL standard lets them stand: servers with strict parsers (Java's
/// `URI`) refuse them.
#[must_use]
pub fn from_path(path: &Path) -> Option<String> {
    let url = Url::from_file_path(path).ok()?;
    let mut uri = String::with_capacity(url.as_str().len() + 8);
    for c in url.as_str().chars() {
        match c {
            '[' => uri.push_str("%5B"),
            ']' => uri.push_str("%5D"),
            '^' => uri.push_str("%5E"),
            '|' => uri.push_str("%7C"),
            c => uri.push(c),
        }
    }
    Some(uri)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(uri: &str, expected: &Expect) {
        expected.assert_eq(&to_path(uri).map_or("none".to_owned(), |path| path.display().to_string()));
    }

    #[test]
    fn decoding() {
        check("file:///a%20b/%23work/%5Bslug%5D/50%25", &expect!["/a b/#work/[slug]/50%"]);
        check("file:///a%2520b", &expect!["/a%20b"]);
        check("file:///na%C3%AFve/%E6%97%A5", &expect!["/naïve/日"]);
        check("file://localhost/a", &expect!["/a"]);
        check("file://elsewhere/a", &expect!["none"]);
        check("https://localhost/a", &expect!["none"]);
        check("/a", &expect!["none"]);
        check("file:///a%00b", &expect!["none"]);
    }

    proptest! {
        #[test]
        fn there_and_back(name in "[^/\0]{1,12}") {
            prop_assume!(name != "." && name != "..");
            let path = Path::new("/w").join(name);
            prop_assert_eq!(to_path(&from_path(&path).unwrap()), Some(path));
        }
    }
}
