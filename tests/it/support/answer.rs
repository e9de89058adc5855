//! A tool's answer, taken apart by the grammar of its first line.

use serde_json::Value;

/// Text of a result and whether it is a failure.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) raw: Value,
}

const VERDICTS: [&str; 10] = [
    "fresh",
    "settling",
    "unconfirmed",
    "partial",
    "stale",
    "indexing",
    "unanswered",
    "failed",
    "unavailable",
    "unsupported",
];
const CODES: [&str; 12] = [
    "invalid",
    "not_found",
    "ambiguous",
    "outside_workspace",
    "read_only",
    "conflict",
    "refused",
    "too_large",
    "failed",
    "unavailable",
    "unsupported",
    "expired",
];

impl Answer {
    /// Takes a `tools/call` response; a protocol error fails the test.
    #[track_caller]
    pub(crate) fn of(response: &Value) -> Self {
        let result = &response["result"];
        assert!(result.is_object(), "a tool answers with a result: {response}");
        let blocks = result["content"].as_array().cloned().unwrap_or_default();
        let text: Vec<&str> = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
        let answer = Self { text: text.join("\n"), is_error: result["isError"] == true, raw: result.clone() };
        let parts: Vec<&str> = answer.first().split(" · ").collect();
        assert!(parts.len() >= 3, "the first line has three parts: {answer}");
        let words: &[&str] = if answer.is_error { &CODES } else { &VERDICTS };
        assert!(words.contains(&parts[0]), "the first word is a known one: {answer}");
        assert!(answer.text.chars().count() <= 40_000, "no answer is longer than the highest budget");
        answer
    }

    pub(crate) fn first(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The lines below the first.
    pub(crate) fn body(&self) -> String {
        self.text.split_once('\n').map(|(_, b)| b.to_owned()).unwrap_or_default()
    }

    /// The verdict or the failure's code.
    pub(crate) fn verdict(&self) -> &str {
        self.first().split(" · ").next().unwrap_or_default()
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// Every place that the answer prints, in order: `path:line:column`, or `line:column` below a line with the path.
    pub(crate) fn places(&self) -> Vec<(String, usize, usize)> {
        let mut places = Vec::new();
        let mut file = String::new();
        for line in self.body().lines() {
            let found = line.trim().split("  ").find_map(|field| place(field, &file));
            match found {
                Some(found) => places.push(found),
                None if !line.starts_with(' ') => file = line.trim_end().to_owned(),
                None => {}
            }
        }
        places
    }

    /// The addresses that an ambiguous call offers: JSON objects at the beginning of indented lines.
    pub(crate) fn offers(&self) -> Vec<Value> {
        let object = |line: &str| serde_json::Deserializer::from_str(line.trim()).into_iter::<Value>().next()?.ok();
        self.body().lines().filter_map(object).filter(Value::is_object).collect()
    }

    /// The printed place as arguments of a position tool.
    pub(crate) fn address(place: &(String, usize, usize)) -> Value {
        serde_json::json!({"file_path": place.0, "line": place.1, "column": place.2})
    }

    /// The id of a plan: what a planner's first line ends in.
    #[track_caller]
    pub(crate) fn plan(&self) -> String {
        let id = self.first().rsplit_once("plan ").map(|(_, id)| id.to_owned());
        let id = id.filter(|id| !self.is_error && !id.contains(' '));
        id.unwrap_or_else(|| panic!("a first line that ends in a plan's id expected\n{self}"))
    }

    /// The opaque cursor for the next page.
    pub(crate) fn cursor(&self) -> Option<String> {
        let after = self.text.rsplit_once("cursor")?.1;
        let token: String = after
            .trim_start_matches([' ', ':', '=', '`', '"', '\''])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        (token.len() > 8).then_some(token)
    }

    /// Requires these exact first lines.
    #[track_caller]
    pub(crate) fn says(&self, first: &str) -> &Self {
        assert_eq!(self.first(), first, "in the answer\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn verdict_is(&self, verdict: &str) -> &Self {
        assert_eq!(self.verdict(), verdict, "in the answer\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn verdict_in(&self, verdicts: &[&str]) -> &Self {
        assert!(verdicts.contains(&self.verdict()), "one of {verdicts:?} expected in the answer\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn contains(&self, text: &str) -> &Self {
        assert!(self.has(text), "{text:?} expected in the answer\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn lacks(&self, text: &str) -> &Self {
        assert!(!self.has(text), "{text:?} not expected in the answer\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn fine(&self) -> &Self {
        assert!(!self.is_error, "no failure expected\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn fails(&self, code: &str) -> &Self {
        assert!(self.is_error, "a failure expected\n{self}");
        self.verdict_is(code)
    }
}

/// `path:line:column`, or `line:column` with the file from above; a role may follow.
fn place(field: &str, above: &str) -> Option<(String, usize, usize)> {
    let field = field.strip_suffix(" definition").unwrap_or(field);
    let (rest, column) = field.rsplit_once(':')?;
    let column = column.parse().ok()?;
    if let Ok(line) = rest.parse() {
        return (!above.is_empty()).then(|| (above.to_owned(), line, column));
    }
    let (file, line) = rest.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?, column))
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_error { "failure" } else { "answer" };
        let shown: String = self.text.chars().take(3_000).collect();
        write!(f, "--- {kind} ---\n{shown}\n---")
    }
}
