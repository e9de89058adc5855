//! How the allocator gives memory back: one large answer must not stay resident for ever.

/// Tunes the allocator; called once, before threads start. Does nothing where it is not glibc's.
pub fn tune() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // Setting a threshold also switches off its automatic growth: otherwise one freed answer of 30 MiB would
        // raise it, and the next ones would land in a heap that is never trimmed.
        const SETTINGS: [(libc::c_int, libc::c_int); 3] =
            [(libc::M_MMAP_THRESHOLD, 256 << 10), (libc::M_TRIM_THRESHOLD, 512 << 10), (libc::M_ARENA_MAX, 2)];
        for (parameter, value) in SETTINGS {
            // SAFETY: mallopt only sets the allocator's own parameters; both arguments are plain numbers.
            unsafe { libc::mallopt(parameter, value) };
        }
    }
}
