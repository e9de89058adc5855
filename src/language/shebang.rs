//! The program that a `#!` line names.

/// The base name of the program behind `#!`, through `env` and its flags and assignments.
pub(super) fn interpreter(line: &str) -> Option<String> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    // jbang scripts have to be Java as well: `///usr/bin/env jbang`.
    let line =
        line.strip_prefix("#!").or_else(|| line.strip_prefix("//").filter(|rest| rest.starts_with("/usr/bin/")))?;
    let mut words = line.split_whitespace();
    let mut program = base_name(words.next()?);
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('=')).map(base_name)?;
    }
    let program = program.strip_suffix(".exe").unwrap_or(program);
    (!program.is_empty()).then(|| program.to_owned())
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
