//! The program: becomes a watchdog if it was started as one.

fn main() {
    langport::sys::watchdog::entry();
}
