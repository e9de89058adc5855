//! The URIs that servers send and are sent. Encoding and decoding is [`crate::workspace::uri`]'s.

use std::path::Path;

use super::types::FileRef;
use crate::workspace::uri::{from_path, to_path};

/// Characters of a URI that names no file; longer ones are cut.
const FOREIGN: usize = 300;

/// Decodes a server's URI. `file:` with an empty authority or `localhost` is a path; everything else is kept as text.
///
/// An absolute path where a URI should stand is taken as it is, undecoded: no URI begins with a slash.
pub fn uri_to_ref(uri: &str) -> FileRef {
    if uri.starts_with('/') && !uri.starts_with("//") && !uri.contains('\0') {
        return FileRef::Path(uri.into());
    }
    to_path(uri).map_or_else(|| FileRef::Foreign(uri.chars().take(FOREIGN).collect()), FileRef::Path)
}

/// Encodes an absolute path; a relative one counts from the file system's root.
pub fn path_to_uri(path: &Path) -> String {
    from_path(path).or_else(|| from_path(&Path::new("/").join(path))).unwrap_or_else(|| String::from("file:///"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn path(path: &str) -> FileRef {
        FileRef::Path(path.into())
    }

    #[test]
    fn reserved_characters_are_encoded_and_come_back() {
        for (name, uri) in [
            ("a b", "file:///w/a%20b"),
            ("#work", "file:///w/%23work"),
            ("50%", "file:///w/50%25"),
            ("[slug]", "file:///w/%5Bslug%5D"),
            ("naïve é", "file:///w/na%C3%AFve%20%C3%A9"),
            ("日本", "file:///w/%E6%97%A5%E6%9C%AC"),
            ("q?x", "file:///w/q%3Fx"),
            ("(auth)", "file:///w/(auth)"),
            ("a%20b", "file:///w/a%2520b"),
            ("back\\slash", "file:///w/back%5Cslash"),
            ("{a}|^`\"<>", "file:///w/%7Ba%7D%7C%5E%60%22%3C%3E"),
            ("c:d;e=f&g+h,i@j$k!l'm*n~", "file:///w/c:d;e=f&g+h,i@j$k!l'm*n~"),
        ] {
            let file = PathBuf::from("/w").join(name);
            assert_eq!(path_to_uri(&file), uri);
            assert_eq!(uri_to_ref(uri), FileRef::Path(file));
        }
    }

    #[test]
    fn spellings_of_servers() {
        for (uri, file) in [
            ("file:///w/%5bslug%5d/x%3a", path("/w/[slug]/x:")),
            ("file:///w/[slug]", path("/w/[slug]")),
            ("file:///w/a b", path("/w/a b")),
            ("file:/w/a", path("/w/a")),
            ("FILE:///w/a", path("/w/a")),
            ("file://localhost/w/a", path("/w/a")),
            ("file:///w/a%20b%2Fc", path("/w/a b/c")),
            ("file:///w/100%zz", path("/w/100%zz")),
            ("file:///w/%e6%97%a5", path("/w/日")),
            ("/w/a%20b", path("/w/a%20b")),
            ("file:///c%3A/x", path(if cfg!(windows) { "c:/x" } else { "/c:/x" })),
        ] {
            assert_eq!(uri_to_ref(uri), file, "{uri}");
        }
    }

    #[test]
    fn what_is_no_local_file_stays_text() {
        for uri in [
            "file://host/share/a",
            "file://evil.example/etc/passwd",
            "//host/share",
            "untitled:Untitled-1",
            "jdt://contents/rt.jar/java.lang/String.class?=x",
            "http://x/y",
            "foo",
            "a/b.py",
            "",
            "file:///w/%00",
            "zipfile:///x.zip::/a",
            "file://[",
            "/w/a\0b",
        ] {
            assert_eq!(uri_to_ref(uri), FileRef::Foreign(uri.to_owned()), "{uri}");
        }
        let long = format!("x:{}", "é".repeat(1000));
        assert_eq!(uri_to_ref(&long), FileRef::Foreign(long.chars().take(300).collect()));
    }

    #[test]
    fn bytes_that_are_not_utf8_come_back() {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let file = PathBuf::from(std::ffi::OsStr::from_bytes(b"/w/\xff\xfe.py"));
            assert_eq!(path_to_uri(&file), "file:///w/%FF%FE.py");
            assert_eq!(uri_to_ref("file:///w/%FF%FE.py"), FileRef::Path(file));
        }
    }

    #[test]
    fn relative_paths_count_from_the_root() {
        assert_eq!(path_to_uri(Path::new("a/b c")), "file:///a/b%20c");
        assert_eq!(path_to_uri(Path::new("/")), "file:///");
    }

    proptest! {
        #[test]
        fn every_path_comes_back(names in prop::collection::vec("[^/\0]{1,8}", 1..5)) {
            prop_assume!(names.iter().all(|name| name != "." && name != ".."));
            let file = names.iter().fold(PathBuf::from("/"), |path, name| path.join(name));
            let uri = path_to_uri(&file);
            prop_assert!(uri.bytes().all(|b| b.is_ascii_graphic() && !b"[]{}|^`\\\"<> ?#".contains(&b)), "{}", uri);
            prop_assert_eq!(uri_to_ref(&uri), FileRef::Path(file));
        }

        #[test]
        fn no_text_is_too_odd(uri in any::<String>()) {
            uri_to_ref(&uri);
            uri_to_ref(&format!("file:///{uri}"));
        }
    }
}
