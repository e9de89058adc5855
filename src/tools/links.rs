//! Links in a folder that is moved: what leads out of it by a relative path leads elsewhere from the new place, and what
//! leads into it by an absolute one leads nowhere.

use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

use super::ask::Ask;

/// Entries that are looked at.
const LOOKED_AT: usize = 20_000;
/// Links that are named one by one.
const SHOWN: usize = 3;

/// A remark on the links in `folder` that do not lead from `target` to where they lead now.
pub(super) fn astray(ask: &Ask<'_>, folder: &Path, target: &Path) -> Option<String> {
    let entries =
        WalkBuilder::new(folder).standard_filters(false).follow_links(false).sort_by_file_path(Ord::cmp).build();
    let links = entries.filter_map(Result::ok).take(LOOKED_AT).filter(ignore::DirEntry::path_is_symlink);
    let lost = |link: &Path| link.read_link().is_ok_and(|leads| is_lost(link, &leads, folder, target));
    let lost: Vec<PathBuf> = links.map(ignore::DirEntry::into_path).filter(|link| lost(link)).collect();
    let shown: Vec<String> = lost.iter().take(SHOWN).map(|link| ask.engine.ground.roots.display(link)).collect();
    let more = lost.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!lost.is_empty())
        .then(|| format!("links in it that lead elsewhere from the new place: {}{more}", shown.join(", ")))
}

fn is_lost(link: &Path, leads: &Path, folder: &Path, target: &Path) -> bool {
    let moved = |place: &Path| place.strip_prefix(folder).map_or_else(|_| place.to_owned(), |rest| target.join(rest));
    let end = |link: &Path| plain(&link.parent().unwrap_or(link).join(leads));
    end(&moved(link)) != moved(&end(link))
}

/// Without `.` and `..`, as it is written.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_elsewhere_after_a_move() {
        let lost = |leads: &str, target: &str| {
            is_lost(Path::new("/w/lib/in/link"), Path::new(leads), Path::new("/w/lib"), Path::new(target))
        };
        // Out of the folder, from another depth; from the same one it is the same place.
        assert!(lost("../../main.py", "/w/deep/lib"));
        assert!(!lost("../../main.py", "/w/other"));
        // Within it.
        assert!(!lost("../tally.py", "/w/deep/lib") && !lost(".", "/w/deep/lib"));
        // By its own name from outside, and by an absolute path.
        assert!(lost("../../lib/tally.py", "/w/other") && lost("/w/lib/tally.py", "/w/other"));
        assert!(!lost("/w/main.py", "/w/deep/lib"));
    }
}
