//! The JSON schemas of what people write, for their editors.

use schemars::schema_for;

/// The schema of a definition.
pub fn definition() -> String {
    pretty(&schema_for!(super::Definition))
}

/// The schema of `config.toml`.
pub fn config() -> String {
    pretty(&schema_for!(crate::config::Settings))
}

fn pretty(schema: &schemars::Schema) -> String {
    let mut text = serde_json::to_string_pretty(schema).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    /// A difference means that the types changed: `UPDATE_EXPECT=1 cargo test schema` writes the files anew.
    #[test]
    fn the_schemas_are_those_of_the_types() {
        expect_file!["../../schemas/definition.json"].assert_eq(&super::definition());
        expect_file!["../../schemas/config.json"].assert_eq(&super::config());
    }
}
