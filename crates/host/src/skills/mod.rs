//! Skills: texts that tell an agent how to do something. Whoever writes one steers agents, so that an agent
//! can only propose, and a person decides.
//!
//! INVARIANT (PeopleActivate): no message makes a skill active or changes one. What an agent proposes
//! waits until a person approves exactly that text.
//!
//! INVARIANT (NothingLaunders): what a tainted session proposed carries its tag, also once it is
//! approved. The tag lies in the same tree as the text.

mod folder;
mod front;
mod gather;
mod git;
mod name;
mod pins;
mod suppressions;

use std::path::Path;

use aegx::RecordType;
use evidence::{AppendError, Journal, NewRecord};
use model::provider::{self, Provider, ProviderKind};
use model::{Kind, TaintTag};
use serde_json::json;

pub use folder::Folder;
pub use front::Front;
pub use gather::{ARCHIVE_BYTES_MAX, GatherError, gather};
pub use git::{Proposal, ProposalState, Repository};
pub use name::{SkillName, SkillNameError};
pub use pins::{Pin, Pins};
pub use suppressions::{
    DAYS_MAX, SUPPRESSIONS, SUPPRESSIONS_BYTES_MAX, Suppression, SuppressionError, Suppressions,
    day,
};

use crate::admission::{self, AdmissionError};

/// The longest skill, in bytes.
pub const SKILL_BYTES_MAX: usize = 400_000;
/// How many skills are listed.
pub const SKILLS_MAX: usize = 1000;

/// Where skills are.
pub enum Skills {
    /// In a folder that the operator fills.
    Folder(Folder),
    /// In a repository, with proposals that wait for a person.
    Repository(Repository),
}

/// A skill, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: SkillName,
    /// What its front matter says of it.
    pub front: Front,
    /// Where it came from, if it is not clean.
    pub tag: Option<TaintTag>,
}

/// The text of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// The text.
    pub content: String,
    /// Where it came from, if it is not clean.
    pub tag: Option<TaintTag>,
}

/// Why a skill was not found, read or proposed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] SkillNameError),
    /// None of that name.
    #[error("there is no skill `{0}`")]
    NotFound(SkillName),
    /// A name that could be taken for another's.
    #[error("`{0}` differs from the skill `{1}` in capitals alone")]
    Alike(SkillName, SkillName),
    /// One is there already.
    #[error("there is a skill `{0}` already: --replace puts this one in its place")]
    Exists(SkillName),
    /// Not as it was when a person approved it.
    #[error("the skill `{0}` is not used: {1}")]
    Changed(SkillName, String),
    /// The provider only reads.
    #[error("skills are read-only here: `skills: git` in config.yaml takes proposals")]
    ReadOnly,
    /// Nothing in it.
    #[error("a skill has from 1 to {SKILL_BYTES_MAX} bytes")]
    Length,
    /// Too many wait.
    #[error("{0} proposals of this user wait already; a person answers with `lazaret skills`")]
    Waiting(usize),
    /// No such proposal, or it waits no more.
    #[error("no proposal `{0}` waits")]
    NoProposal(String),
    /// The skill was changed meanwhile.
    #[error("`{0}` was changed since this was proposed; reject it and let it be proposed again")]
    Drift(SkillName),
    /// The proposal is not what was looked at.
    #[error("the proposal is not the one that was shown")]
    Other,
    /// What is there cannot be read.
    #[error("the skills cannot be read: {0}")]
    Damaged(String),
    /// The system.
    #[error("the skills cannot be reached: {0}")]
    Io(#[from] std::io::Error),
}

impl SkillError {
    /// Is it about what was asked, and not about the machine?
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Damaged(_) | Self::Io(_) => false,
            Self::Name(_)
            | Self::NotFound(_)
            | Self::Alike(..)
            | Self::Exists(_)
            | Self::Changed(..)
            | Self::ReadOnly
            | Self::Length
            | Self::Waiting(_)
            | Self::NoProposal(_)
            | Self::Drift(_)
            | Self::Other => true,
        }
    }
}

/// Compares the skills that were installed with what a person approved, at a start. What differs is recorded and not used.
///
/// # Errors
/// If that cannot be recorded.
pub fn check(home: &Path, journal: &Journal) -> Result<Vec<(String, String)>, AppendError> {
    let list = |error: SkillError| vec![("skill-pins.json".to_owned(), error.to_string())];
    let refused = Pins::new(&home.join("skills")).check().unwrap_or_else(list);
    for (name, why) in &refused {
        let content = json!({ "decision": "deny", "skill": name, "error": why });
        let kind = Kind::of_static("skill_refused");
        journal.append(NewRecord::of_host(RecordType::GuardDecision, kind, content))?;
    }
    Ok(refused)
}

/// The skills that the settings in `home` choose, if they choose some.
///
/// # Errors
/// If the settings are not understood.
pub fn skills(home: &Path) -> Result<Option<Skills>, AdmissionError> {
    Ok(match admission::providers(home)?.of(ProviderKind::Skills) {
        Some(Provider::Skills(provider::Skills::ReadOnly)) => {
            Some(Skills::Folder(Folder::new(&home.join("skills"))))
        }
        Some(Provider::Skills(provider::Skills::Git)) => {
            Some(Skills::Repository(Repository::new(&home.join("skills.git"))))
        }
        Some(_) | None => None,
    })
}

impl Skills {
    /// All that are active, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, SkillError> {
        match self {
            Self::Folder(folder) => folder.list(),
            Self::Repository(repository) => repository.list(),
        }
    }

    /// One that is active.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn read(&self, name: &SkillName) -> Result<SkillText, SkillError> {
        match self {
            Self::Folder(folder) => folder.read(name),
            Self::Repository(repository) => repository.read(name),
        }
    }
}
