//! Proposals: made by an agent, answered by a person.

use aegx::{Digest, Sorted};
use evidence::Receipt;
use files::private;
use model::ipc::{SkillPropose, Uuid};
use model::{TaintTag, UserId};
use monitor::Permit;
use monitor::taint::worse;
use serde_json::{Value, json};
use store::{tag_from_json, tag_to_json};

use super::{Commit, MAIN, Repository, SkillError, SkillName, WAITING_PER_USER_MAX};
use crate::skills::SKILL_BYTES_MAX;

/// How the last line of a proposal's message begins: who, from where, with which tag. It is the last
/// line that counts, so that no reason can pass for it.
const ABOUT: &str = "Lazaret: ";

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Its name.
    pub id: Uuid,
    /// The skill that it makes or changes.
    pub skill: SkillName,
    /// The commit that holds it: what a person approves.
    pub commit: Digest,
    /// Its text.
    pub content: String,
    /// Why the agent wants it.
    pub reason: String,
    /// For whom.
    pub user: String,
    /// By which agent.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// The record of the decision by which it was made, as hex.
    pub record: String,
    /// When, in seconds since 1970.
    pub created: i64,
    /// What the session carried.
    pub tag: Option<TaintTag>,
    /// The commit that it was made upon.
    base: Option<Digest>,
    /// The id of the text.
    pub(super) text: Digest,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalState {
    /// It waits.
    Waiting,
    /// A person approved it: it is active, or was until it was changed again.
    Approved,
    /// A person rejected it.
    Rejected,
}

impl ProposalState {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }

    pub(super) const fn folder(self) -> &'static str {
        match self {
            Self::Waiting => "refs/proposals",
            Self::Approved => "refs/approved",
            Self::Rejected => "refs/rejected",
        }
    }
}

/// What an agent asks for, already judged.
pub(super) struct NewProposal {
    pub(super) user: UserId,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) record: Digest,
    pub(super) tag: Option<TaintTag>,
    pub(super) skill: String,
    pub(super) content: String,
    pub(super) reason: String,
}

impl Repository {
    /// Makes a proposal. Nothing that is active changes.
    ///
    /// # Errors
    /// If the name is none or could be taken for another's, too many wait, or it cannot be written.
    pub fn propose(&self, permit: Permit<SkillPropose>, now: i64) -> Result<Proposal, SkillError> {
        let who = permit.who().clone();
        let (tag, record) = (permit.tag().cloned(), permit.record());
        let asked = permit.spend();
        self.make(
            NewProposal {
                user: who.user,
                agent: who.agent.to_string(),
                session: who.session.to_string(),
                record,
                tag,
                skill: asked.skill.as_str().to_owned(),
                content: asked.content.as_str().to_owned(),
                reason: asked.reason.map_or_else(String::new, |it| it.as_str().to_owned()),
            },
            now,
        )
    }

    pub(super) fn make(&self, new: NewProposal, now: i64) -> Result<Proposal, SkillError> {
        let skill = SkillName::parse(&new.skill)?;
        if new.content.trim().is_empty() || new.content.len() > SKILL_BYTES_MAX {
            return Err(SkillError::Length);
        }
        let _lock = self.lock()?;
        if let Some(other) = self.list()?.into_iter().find(|it| it.name.is_alike(&skill)) {
            return Err(SkillError::Alike(skill, other.name));
        }
        let waiting = self.proposals(ProposalState::Waiting)?;
        let own = waiting.iter().filter(|it| it.user == new.user.as_str()).count();
        if own >= WAITING_PER_USER_MAX {
            return Err(SkillError::Waiting(own));
        }
        let id = new_uuid()?;
        let base = self.main()?;
        let text = self.objects.write("blob", new.content.as_bytes())?;
        let known = self.known_tag(base.as_ref(), &skill, text, &waiting)?;
        let tag = worse(new.tag.as_ref(), known.as_ref());
        let tree = self.tree_with(base.as_ref(), &skill, text, tag.as_ref())?;
        let proposal = Proposal {
            id,
            skill,
            commit: Digest::ZERO,
            content: new.content,
            reason: new.reason,
            user: new.user.to_string(),
            agent: new.agent,
            session: new.session,
            record: new.record.to_string(),
            created: now,
            tag,
            base,
            text,
        };
        let commit = Commit {
            tree,
            parents: base.into_iter().collect(),
            author: &proposal.agent,
            now,
            message: message(&proposal),
        };
        let commit = self.commit(&commit)?;
        self.write_ref(&path(ProposalState::Waiting, id), &commit)?;
        Ok(Proposal { commit, ..proposal })
    }

    /// What is known of a text: who proposes again what a tainted session proposed has it from there, whatever
    /// became of it.
    fn known_tag(
        &self,
        main: Option<&Digest>,
        skill: &SkillName,
        text: Digest,
        waiting: &[Proposal],
    ) -> Result<Option<TaintTag>, SkillError> {
        let active = main.map_or(Ok(None), |it| self.skill(it, skill))?;
        let active = active.filter(|(_, id)| *id == text).and_then(|(it, _)| it.tag);
        let mut answered = self.proposals(ProposalState::Approved)?;
        answered.extend(self.proposals(ProposalState::Rejected)?);
        let same = waiting.iter().chain(&answered).filter(|it| it.text == text);
        Ok(same.fold(active, |sum, it| worse(sum.as_ref(), it.tag.as_ref())))
    }

    /// All proposals of a state, oldest first.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn proposals(&self, state: ProposalState) -> Result<Vec<Proposal>, SkillError> {
        let ids = self.refs(state)?;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(self.proposal(state, id)?);
        }
        found.sort_by_key(|it| (it.created, it.id.to_string()));
        Ok(found)
    }

    /// One proposal, if it is in that state.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn proposal(&self, state: ProposalState, id: Uuid) -> Result<Option<Proposal>, SkillError> {
        let Some(commit) = self.read_ref(&path(state, id))? else { return Ok(None) };
        let wrong = || SkillError::Damaged(format!("proposal {id} cannot be read"));
        let content =
            String::from_utf8(self.objects.read(&commit, "commit")?).map_err(|_| wrong())?;
        let (_, message) = content.split_once("\n\n").ok_or_else(wrong)?;
        let (reason, about) = message.trim_end().rsplit_once('\n').ok_or_else(wrong)?;
        let about = about.strip_prefix(ABOUT).and_then(|it| serde_json::from_str::<Value>(it).ok());
        let about = about.ok_or_else(wrong)?;
        let field =
            |key: &str| about.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(wrong);
        let skill = SkillName::parse(&field("skill")?)?;
        let (text, blob) = self.skill(&commit, &skill)?.ok_or_else(wrong)?;
        let tag = match about.get("tag") {
            Some(Value::Null) => None,
            Some(tag) => Some(tag_from_json(tag).ok_or_else(wrong)?),
            None => return Err(wrong()),
        };
        let base = match field("base")?.as_str() {
            "" => None,
            hex => Some(Digest::from_hex(hex.as_bytes()).ok_or_else(wrong)?),
        };
        if text.tag != tag || field("id")? != id.to_string() {
            return Err(wrong());
        }
        let reason = reason.split_once("\n\n").map_or("", |(_, it)| it).trim().to_owned();
        Ok(Some(Proposal {
            id,
            skill,
            commit,
            content: text.content,
            reason,
            user: field("user")?,
            agent: field("agent")?,
            session: field("session")?,
            record: field("record")?,
            created: about.get("created").and_then(Value::as_i64).ok_or_else(wrong)?,
            tag,
            base,
            text: blob,
        }))
    }

    /// Makes a proposal active, exactly as it was shown. The receipt proves that a person's word was
    /// recorded first. Its tag goes with it.
    ///
    /// # Errors
    /// If it waits no more, is another, or the skill was changed since.
    pub fn approve(
        &self,
        shown: &Proposal,
        by: &UserId,
        receipt: &Receipt,
        now: i64,
    ) -> Result<(), SkillError> {
        self.approve_on(shown, by, &receipt.id().to_string(), now)
    }

    pub(super) fn approve_on(
        &self,
        shown: &Proposal,
        by: &UserId,
        record: &str,
        now: i64,
    ) -> Result<(), SkillError> {
        let _lock = self.lock()?;
        self.check(shown)?;
        let main = self.main()?;
        let found =
            |commit: Option<Digest>| commit.map_or(Ok(None), |it| self.skill(&it, &shown.skill));
        let active = found(main)?;
        let there = active.as_ref().map(|(_, id)| *id);
        if let Some(other) = self.list()?.into_iter().find(|it| it.name.is_alike(&shown.skill)) {
            return Err(SkillError::Alike(shown.skill.clone(), other.name));
        }
        if there != found(shown.base)?.map(|(_, id)| id) && there != Some(shown.text) {
            return Err(SkillError::Drift(shown.skill.clone()));
        }
        // The same text may have become active meanwhile, out of a tainted session's hands.
        let same = active.filter(|(_, id)| *id == shown.text).and_then(|(it, _)| it.tag);
        let tag = worse(shown.tag.as_ref(), same.as_ref());
        let tree = self.tree_with(main.as_ref(), &shown.skill, shown.text, tag.as_ref())?;
        let message =
            format!("approve {}\n\nproposal {}\nrecord {record}\n", shown.skill, shown.id);
        let parents = main.into_iter().chain([shown.commit]).collect();
        let commit = self.commit(&Commit { tree, parents, author: by.as_str(), now, message })?;
        self.write_ref(MAIN, &commit)?;
        self.settle(shown, ProposalState::Approved)
    }

    /// Puts a proposal away. The receipt proves that a person's word was recorded first.
    ///
    /// # Errors
    /// If it waits no more, or is another.
    pub fn reject(&self, shown: &Proposal, _receipt: &Receipt) -> Result<(), SkillError> {
        self.put_away(shown)
    }

    pub(super) fn put_away(&self, shown: &Proposal) -> Result<(), SkillError> {
        let _lock = self.lock()?;
        self.check(shown)?;
        self.settle(shown, ProposalState::Rejected)
    }

    fn check(&self, shown: &Proposal) -> Result<(), SkillError> {
        match self.read_ref(&path(ProposalState::Waiting, shown.id))? {
            None => Err(SkillError::NoProposal(shown.id.to_string())),
            Some(commit) if commit != shown.commit => Err(SkillError::Other),
            Some(_) => Ok(()),
        }
    }

    /// The new ref is there before the old one goes: a crash loses none.
    fn settle(&self, shown: &Proposal, state: ProposalState) -> Result<(), SkillError> {
        self.write_ref(&path(state, shown.id), &shown.commit)?;
        let old = self.path.join(path(ProposalState::Waiting, shown.id));
        private::remove(&old)?;
        Ok(private::sync_parent(&old)?)
    }
}

pub(super) fn path(state: ProposalState, id: Uuid) -> String {
    format!("{}/{id}", state.folder())
}

fn message(it: &Proposal) -> String {
    let about = json!({
        "agent": it.agent,
        "base": it.base.map_or_else(String::new, |it| it.to_string()),
        "created": it.created,
        "id": it.id.to_string(),
        "record": it.record,
        "session": it.session,
        "skill": it.skill.as_str(),
        "tag": it.tag.as_ref().map(tag_to_json),
        "user": it.user,
    });
    format!("propose {}\n\n{}\n{ABOUT}{}\n", it.skill, it.reason, Sorted(&about))
}

fn new_uuid() -> std::io::Result<Uuid> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(Uuid::from_random(bytes))
}
