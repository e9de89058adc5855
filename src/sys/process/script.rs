//! What is wrong with the first line of a script, where the system only says that something was not found.

use std::io::Read;
use std::path::Path;

/// The kernel reads no more of a first line.
const LINE: usize = 256;

/// Why a script's own first line keeps it from being run; none where it is no script, or well.
pub(super) fn fault(program: &Path) -> Option<String> {
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(LINE as u64).read_to_end(&mut start).ok()?;
    of_text(&start, &|path| path.exists())
}

fn of_text(start: &[u8], exists: &dyn Fn(&Path) -> bool) -> Option<String> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line);
    let interpreter = text.split_whitespace().next()?;
    if text.ends_with('\r') {
        return Some(format!(
            "its first line, `#!{}`, ends with CR LF, so that an interpreter is looked for whose name ends with CR: save \
             it with line ends of LF alone",
            text.trim()
        ));
    }
    // A path that is too long is cut by the kernel, too.
    (!exists(Path::new(interpreter)))
        .then(|| format!("its first line names the interpreter `{interpreter}`, which is not there"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(start: &str, expected: &Expect) {
        let said = of_text(start.as_bytes(), &|path| path == Path::new("/bin/sh") || path == Path::new("/usr/bin/env"));
        expected.assert_eq(&said.unwrap_or_default());
    }

    #[test]
    fn lif_10_line_ends_and_interpreters() {
        check("#!/bin/sh\nexit\n", &expect![""]);
        check("#! /usr/bin/env node\n", &expect![""]);
        check("echo\r\n", &expect![""]);
        check("#!\n", &expect![""]);
        check("", &expect![""]);
        check("#!/no/such -x\n", &expect!["its first line names the interpreter `/no/such`, which is not there"]);
        check(
            "#!/bin/sh\r\nexit\r\n",
            &expect![
                "its first line, `#!/bin/sh`, ends with CR LF, so that an interpreter is looked for whose name ends with CR: save it with line ends of LF alone"
            ],
        );
        check(
            "#!/usr/bin/env node\r\n",
            &expect![
                "its first line, `#!/usr/bin/env node`, ends with CR LF, so that an interpreter is looked for whose name ends with CR: save it with line ends of LF alone"
            ],
        );
    }
}
