//! The nearest of a list of names to a mistyped one.

/// At most three names that `given` may have been meant for, best first.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = given.to_lowercase();
    let mut scored: Vec<_> = known
        .into_iter()
        .map(|name| {
            let other = name.to_lowercase();
            let alike = strsim::jaro_winkler(&lower, &other);
            // `python` is meant by `py`, `pyright` by `right`: containing each other counts as much as likeness.
            let contained = lower.len() > 1 && (other.contains(&lower) || lower.contains(&other));
            (if contained { alike.max(0.9) } else { alike }, name)
        })
        .filter(|(score, _)| *score >= 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// `: did you mean …?`, or nothing.
pub fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, known).first().map(|name| format!(": did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names() {
        let known = ["pyright", "ty", "ruff", "gopls"];
        assert_eq!(nearest("pyrigth", known), ["pyright"]);
        assert_eq!(nearest("Ruf", known), ["ruff"]);
        assert_eq!(nearest("right", known)[0], "pyright");
        assert!(nearest("zzzzz", known).is_empty());
        assert_eq!(hint("commnd", ["command"]), ": did you mean `command`?");
        assert_eq!(hint("qqq", ["command"]), "");
    }
}
