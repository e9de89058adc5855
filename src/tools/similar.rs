//! Files that a path which leads nowhere may have been meant for: those whose names are like its own, found by a bounded walk
//! that keeps to what git does not ignore.

use std::path::Path;

use ignore::WalkBuilder;

use crate::workspace::roots::Roots;

/// Entries that are looked at in a folder that the path names, and in all.
const BESIDE: usize = 2_000;
const ENTRIES: usize = 20_000;
/// Files that are named.
const NAMED: usize = 3;
/// Names that are less alike are another one's.
const ALIKE: f64 = 0.84;

/// The likeliest files, as answers show them.
pub(super) fn similar(roots: &Roots, missing: &Path) -> Vec<String> {
    let Some(name) = missing.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return Vec::new() };
    let meant = roots.display(missing);
    let mut found: Vec<(f64, String)> = Vec::new();
    let mut look = |folder: &Path, depth: Option<usize>, most: usize| {
        let walk = WalkBuilder::new(folder)
            .hidden(true)
            .require_git(false)
            .follow_links(false)
            .max_depth(depth)
            .sort_by_file_name(Ord::cmp)
            .build();
        for entry in walk.filter_map(Result::ok).take(most) {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let Some(likeness) = likeness(&name, &entry.file_name().to_string_lossy().to_lowercase()) else { continue };
            let shown = roots.display(entry.path());
            if !found.iter().any(|(_, known)| *known == shown) {
                // Of names that are alike, the one whose path is.
                found.push((likeness + strsim::jaro_winkler(&meant, &shown) / 4.0, shown));
            }
        }
    };
    if let Some(folder) = missing.parent().filter(|folder| folder.is_dir()) {
        look(folder, Some(1), BESIDE);
    }
    for root in roots.all() {
        look(&root.path, None, ENTRIES / roots.all().len());
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().take(NAMED).map(|(_, shown)| shown).collect()
}

/// How alike two names of files are, where they are at all.
fn likeness(given: &str, other: &str) -> Option<f64> {
    let stem = |name: &str| name.split('.').next().filter(|stem| stem.len() > 1).map(str::to_owned);
    if given == other {
        return Some(1.5);
    }
    // `cart.js` is meant by `cart.ts`.
    if stem(given).is_some() && stem(given) == stem(other) {
        return Some(1.2);
    }
    let alike = strsim::jaro_winkler(given, other);
    (alike >= ALIKE).then_some(alike)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::sys::files;

    fn check(missing: &str, expected: &Expect) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for path in [
            "src/cart.ts",
            "src/checkout.ts",
            "web/cart.css",
            "lib/index.ts",
            "app/index.ts",
            "made/cart.ts",
            ".hidden/cart.ts",
            ".gitignore",
        ] {
            files::create_dirs(root.join(path).parent().unwrap()).unwrap();
            files::write(&root.join(path), b"made/\n").unwrap();
        }
        let roots = Roots::new([&root]).unwrap();
        expected.assert_eq(&similar(&roots, &root.join(missing)).join(" "));
    }

    #[test]
    fn names_that_are_alike() {
        check("src/crat.ts", &expect!["src/cart.ts"]);
        check("src/cart.tsx", &expect!["src/cart.ts web/cart.css"]);
        check("cart.ts", &expect!["src/cart.ts web/cart.css"]);
        check("scr/checkout.ts", &expect!["src/checkout.ts"]);
        check("app/indx.ts", &expect!["app/index.ts lib/index.ts"]);
        check("src/zzz.rs", &expect![""]);
        check("..", &expect![""]);
    }
}
