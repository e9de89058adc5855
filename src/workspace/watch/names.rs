//! The names of the files of one folder, in little space: they tell a new file from one that was replaced, and which
//! files went when a whole folder does.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use xxhash_rust::xxh3::xxh3_64;

/// A set of names. Of two names whose hashes are equal only one is kept: a new file is then reported as changed.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Sorted; these decide what is in the set.
    hashes: Vec<u32>,
    /// The names, each ending in a NUL; also some that were removed.
    text: Vec<u8>,
    /// Names that were removed since the text was last tidied.
    removed: usize,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(super) fn contains(&self, name: &OsStr) -> bool {
        self.hashes.binary_search(&hash(name)).is_ok()
    }

    /// True if it was not there.
    pub(super) fn insert(&mut self, name: &OsStr) -> bool {
        let hash = hash(name);
        let Err(index) = self.hashes.binary_search(&hash) else { return false };
        self.hashes.insert(index, hash);
        self.push(name);
        true
    }

    /// True if it was there.
    pub(super) fn remove(&mut self, name: &OsStr) -> bool {
        let Ok(index) = self.hashes.binary_search(&hash(name)) else { return false };
        self.hashes.remove(index);
        self.removed += 1;
        if self.removed > self.hashes.len() + 16 {
            self.tidy();
        }
        true
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OsStr> {
        // A name that was removed and came again is in the text twice.
        let mut seen = HashSet::new();
        let names = self.text.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(OsStr::from_bytes);
        names.filter(move |name| self.contains(name) && (self.removed == 0 || seen.insert(*name)))
    }

    fn push(&mut self, name: &OsStr) {
        self.text.extend_from_slice(name.as_bytes());
        self.text.push(0);
    }

    fn tidy(&mut self) {
        let tidied: Names = self.iter().collect();
        *self = tidied;
    }
}

impl<N: AsRef<OsStr>> FromIterator<N> for Names {
    fn from_iter<I: IntoIterator<Item = N>>(all: I) -> Names {
        let mut names = Names::default();
        for name in all {
            names.hashes.push(hash(name.as_ref()));
            names.push(name.as_ref());
        }
        names.hashes.sort_unstable();
        names.hashes.dedup();
        names.hashes.shrink_to_fit();
        names.text.shrink_to_fit();
        names
    }
}

fn hash(name: &OsStr) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash is enough")]
    let half = xxh3_64(name.as_bytes()) as u32;
    half
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_any_set(start in proptest::collection::btree_set("[a-e]{1,2}", 0..6), steps in proptest::collection::vec(("[a-e]{1,2}", any::<bool>()), 0..80)) {
            let mut names: Names = start.iter().collect();
            let mut model: BTreeSet<String> = start;
            for (name, insert) in steps {
                if insert {
                    prop_assert_eq!(names.insert(OsStr::new(&name)), model.insert(name));
                } else {
                    names.remove(OsStr::new(&name));
                    model.remove(&name);
                }
                prop_assert_eq!(names.len(), model.len());
                let listed: Vec<&OsStr> = names.iter().collect();
                prop_assert_eq!(listed.len(), model.len());
                prop_assert!(listed.iter().all(|name| model.contains(name.to_str().unwrap())));
                // Removed names do not pile up.
                prop_assert!(names.text.len() <= 3 * (2 * model.len() + 40));
            }
        }
    }
}
