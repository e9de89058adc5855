//! The shapes of what is told about documents (LSP `didOpen`, `didChange`, `didSave`).

use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened<'a> {
    pub(super) text_document: OpenDocument<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenDocument<'a> {
    pub(super) uri: String,
    pub(super) language_id: &'a str,
    pub(super) version: i32,
    pub(super) text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed<'a> {
    pub(super) text_document: Versioned,
    pub(super) content_changes: [Whole<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct Versioned {
    pub(super) uri: String,
    pub(super) version: i32,
}

#[derive(Serialize)]
pub(super) struct Whole<'a> {
    pub(super) text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Saved<'a> {
    pub(super) text_document: Identified,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct Identified {
    pub(super) uri: String,
}
