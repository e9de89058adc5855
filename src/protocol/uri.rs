//! The only encoder and the only decoder of file URIs in the program.

use std::path::Path;

use url::Url;

use super::types::FileRef;

/// Characters of a URI that names no file; longer ones are cut.
const FOREIGN: usize = 300;

/// Decodes a server's URI. `file:` with an empty authority or `localhost` is a path; everything else is kept as text.
///
/// An absolute path where a URI should stand is taken as it is, undecoded: no URI begins with a slash.
pub fn uri_to_ref(uri: &str) -> FileRef {
    if uri.starts_with('/') && !uri.starts_with("//") {
        return FileRef::Path(uri.into());
    }
    match Url::parse(uri) {
        Ok(url) if url.scheme() == "file" => match url.to_file_path() {
            Ok(path) if !path.as_os_str().as_encoded_bytes().contains(&0) => FileRef::Path(path),
            _ => foreign(uri),
        },
        _ => foreign(uri),
    }
}

/// Encodes an absolute path; a relative one counts from the file system's root.
///
/// Brackets and the like are encoded although the URL standard lets them stand: servers with strict parsers (Java's
/// `URI`) refuse them.
pub fn path_to_uri(path: &Path) -> String {
    let url = Url::from_file_path(path).or_else(|()| Url::from_file_path(Path::new("/").join(path)));
    let Ok(url) = url else { return String::from("file:///") };
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
    uri
}

fn foreign(uri: &str) -> FileRef {
    FileRef::Foreign(uri.chars().take(FOREIGN).collect())
}
