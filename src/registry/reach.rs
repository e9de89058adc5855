//! How far a server sees by itself: a part of its definition. Many know the files that they were told of and no others, at
//! least where nothing in the workspace lists a project.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ServerCommand, definition::is_default};
use crate::config::Capability;

/// Which files a server knows when it is asked about the whole project, and how uses in the others are found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reach {
    #[serde(skip_serializing_if = "is_default")]
    pub knows: Knows,
    /// Files that list what a project consists of, by their path below a folder, the stronger first: `tsconfig.json`,
    /// `jsconfig.json` and compilation databases can be read. What is listed together is known together, also where
    /// `knows` is `open`; the nearest list counts.
    #[serde(skip_serializing_if = "is_default")]
    pub lists: Vec<String>,
    /// Languages of files that the server is not for, which may use names of its files all the same.
    #[serde(skip_serializing_if = "is_default")]
    pub also: Vec<String>,
    /// Endings of files of no language of their own, which others include: `inc`.
    #[serde(skip_serializing_if = "is_default")]
    pub endings: Vec<String>,
    /// What belongs to a word beside letters, digits and `_`.
    #[serde(skip_serializing_if = "is_default")]
    pub letters: String,
    /// A regular expression. Where it matches a line of the asked file that has the asked word, uses need not spell that
    /// word: each file may hold one.
    #[serde(skip_serializing_if = "is_default")]
    pub nameless: Option<String>,
    /// A regular expression. Where it matches a line of the asked file, or of one that the answer names, that has the asked
    /// word, the server misses uses in files that it knows: one that has the word and no use may have one. One that knows
    /// its whole project may miss them anywhere.
    #[serde(skip_serializing_if = "is_default")]
    pub overlooks: Option<String>,
    /// Codes of problems that say of a name that it is not known: files that have it are opened before it is asked for code
    /// actions, since one of them may be what mends this. Left out, all errors count.
    #[serde(skip_serializing_if = "is_default")]
    pub undeclared: Vec<String>,
    /// How files of a project say what it is called by those that use it: file names, each with a regular expression whose
    /// first group is the name. Projects beside or inside the asked one that may use it, as this tells, are looked at, too.
    #[serde(skip_serializing_if = "is_default")]
    pub packages: BTreeMap<String, String>,
    /// Nothing of a project is used by another one that does not name it in such a file, or in one that marks its root.
    #[serde(skip_serializing_if = "is_default")]
    pub declared: bool,
    /// Files that it takes for those of another language, where nothing says what they are.
    #[serde(skip_serializing_if = "is_default")]
    pub misread: Option<Misread>,
    /// Answers that are about one file by their nature.
    #[serde(skip_serializing_if = "is_default")]
    pub local: Vec<Capability>,
    /// It looks for callers in the project of the asked file only, although it knows others.
    #[serde(skip_serializing_if = "is_default")]
    pub calls_stay: bool,
    /// A command of tsserver's that searches all projects that it knows for symbols, where `workspace/symbol` searches one.
    #[serde(skip_serializing_if = "is_default")]
    pub search: Option<ServerCommand>,
    /// It answers for a folder that is moved as a whole, although it asks to hear of files only; told of one file after the
    /// other, it edits the same places more than once.
    #[serde(skip_serializing_if = "is_default")]
    pub folders_whole: bool,
}

/// Files of one language that are taken for those of another: what is said of them may be wrong, and names that they
/// share with others may not be seen as the same.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Misread {
    pub language: String,
    /// Endings of these files.
    pub endings: Vec<String>,
    /// Endings of files among which they are of this language: in the same folder, or in the same answer.
    pub among: Vec<String>,
    /// Files that say what they are, in a folder above them; what stands in `lists` says so, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unless: Vec<String>,
}

/// Which files a server knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Knows {
    /// All of its project.
    #[default]
    Project,
    /// Those that it has open, and what these lead to: those that have the asked word are opened before it is asked.
    Open,
    /// The asked one alone: its answer is a part, where others have the asked word.
    File,
}
