//! `file:` URIs and paths, both ways. `url` does the work: string joining cut paths at `#` and decoded names that
//! really held a `%`.

use std::path::{Path, PathBuf};

use url::{Host, Url};

/// The path that a `file:` URI names; `None` for another scheme, another machine, or no absolute path.
#[must_use]
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    match url.host() {
        None | Some(Host::Domain("" | "localhost")) => url.to_file_path().ok(),
        Some(_) => None,
    }
}

/// The `file:` URI of an absolute path; `None` for a relative one.
#[must_use]
pub fn from_path(path: &Path) -> Option<String> {
    Url::from_file_path(path).ok().map(String::from)
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
