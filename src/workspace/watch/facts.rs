//! What sources of events have in common: which file systems report no changes, and what the metadata of a file says
//! about it.

use std::fs::Metadata;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use super::Kind;
use crate::sys::files;

/// What a clock of the file system may lag behind ours.
pub(super) const TICK_NS: i128 = 20_000_000;
/// How many ends are reported at most when a folder goes with all that is in it.
pub(super) const REPORTED: usize = 2_000;

/// What to report of a file that is there, if `start` is when we began to look. `before` says whether it was there,
/// where that is known.
pub(super) fn changed(metadata: &Metadata, start: i128, before: Option<bool>) -> Option<Kind> {
    let late = files::identity(metadata).ctime_ns >= start;
    let born = || {
        let born = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        i128::try_from(born.as_nanos()).ok()
    };
    match before {
        Some(false) => Some(Kind::Created),
        Some(true) => late.then_some(Kind::Changed),
        None if late && born().is_some_and(|born| born >= start) => Some(Kind::Created),
        None => late.then_some(Kind::Changed),
    }
}

/// Why changes below `path` do not all come through this kernel, if so.
#[cfg(target_os = "linux")]
pub(super) fn without_events(path: &Path) -> Option<String> {
    const KINDS: &[(u64, &str)] = &[
        (0x6969, "NFS"),
        (0x0102_1997, "9p"),
        (0x6573_5546, "FUSE"),
        (0x6a65_6a63, "virtiofs"),
        (0x517B, "SMB"),
        (0xFE53_4D42, "SMB"),
        (0xFF53_4D42, "CIFS"),
        (0x5346_414F, "AFS"),
        (0x00C3_6400, "Ceph"),
        (0x0BD0_0BD0, "Lustre"),
        (0x786F_4256, "VirtualBox shared folder"),
        (0xBACB_ACBC, "VMware shared folder"),
    ];
    let kind = u64::try_from(rustix::fs::statfs(path).ok()?.f_type).ok()? & 0xFFFF_FFFF;
    let name = KINDS.iter().find(|(magic, _)| *magic == kind)?.1;
    Some(format!("{} is on {name}, which does not report all changes", path.display()))
}

/// A path as the kernel prints it: blanks and the like are three octal digits behind a backslash.
#[cfg(target_os = "linux")]
pub(super) fn unescape(text: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().filter(|digits| first == b'\\' && digits.iter().all(u8::is_ascii_digit));
        match digits {
            Some(digits) => {
                bytes.push(digits.iter().fold(0_u8, |byte, digit| byte.wrapping_mul(8).wrapping_add(digit - b'0')));
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Why changes below `path` do not all come through this kernel, if so.
#[cfg(target_os = "macos")]
pub(super) fn without_events(path: &Path) -> Option<String> {
    let local = u32::try_from(libc::MNT_LOCAL).unwrap_or(0);
    let remote = rustix::fs::statfs(path).ok()?.f_flags & local == 0;
    remote.then(|| format!("{} is on a network volume, which does not report all changes", path.display()))
}

/// Why changes below `path` do not all come through this kernel, if so.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn without_events(_: &Path) -> Option<String> {
    // `notify` drops what does not fit into its buffer of 16 KiB without a word.
    cfg!(windows).then(|| "changes can get lost without notice on this system".to_owned())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn paths_as_the_kernel_prints_them() {
        assert_eq!(unescape(b"/a\\040b\\134c"), Path::new("/a b\\c"));
        assert_eq!(unescape(b"/plain\\04"), Path::new("/plain\\04"));
    }
}
