//! What an effect gave back. A failure is output too: its text takes the same way.

use std::collections::BTreeMap;

use model::Source;

/// The longest output that is delivered; a longer one is withheld whole.
pub const OUTPUT_BYTES_MAX: usize = 10_000_000;

/// What an effect gave back, before anybody has looked at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Did it work?
    pub status: Status,
    /// What came back: text, or JSON as text.
    pub body: String,
    /// Where single fields came from, by JSON pointer, where the executor knows it.
    pub fields_from: BTreeMap<String, Source>,
    /// Tags that what came back already carried: of memory rows, of files.
    pub tags: Vec<model::TaintTag>,
    /// Whose words the body is made of, if it was begun.
    pub words: Words,
    /// The tool server that gave it, if whoever runs this machine has it sandboxed: nothing may be done because of it.
    pub sandboxed: Option<String>,
}

/// Whose words an output is made of. Only the executor knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// Those of whoever was asked, read or run.
    #[default]
    Theirs,
    /// Those of whatever there was to be read, and of nobody else: the tags of the output and the session's label say
    /// whose they are. Without either they are nobody's from outside.
    Read,
    /// The host's alone: nobody else said anything.
    Ours,
}

/// How an effect ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// As it should.
    #[default]
    Done,
    /// With an error, whose text is the body.
    Failed,
    /// Nothing was done and nobody was asked; why stands in the body, in the host's own words.
    NotBegun,
}

impl Status {
    /// The word in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::NotBegun => "not_begun",
        }
    }
}

impl Output {
    /// An output that is only text.
    #[must_use]
    pub fn text(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// What the host says of an effect that it did not begin. Nobody else's word is in it.
    #[must_use]
    pub fn not_begun(why: impl Into<String>) -> Self {
        Self { status: Status::NotBegun, ..Self::text(why) }
    }

    /// What the host says of an effect to which nobody answered anything.
    #[must_use]
    pub fn unanswered(why: impl Into<String>) -> Self {
        Self { status: Status::Failed, words: Words::Ours, ..Self::text(why) }
    }

    /// Whose words it is made of. Of what was not begun, nobody else can have said anything.
    pub(crate) fn words(&self) -> Words {
        match self.status {
            Status::NotBegun => Words::Ours,
            Status::Done | Status::Failed => self.words,
        }
    }
}
