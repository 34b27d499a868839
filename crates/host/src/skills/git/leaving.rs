//! What a user has proposed who takes it along, or leaves.

use evidence::Receipt;
use files::private;
use model::UserId;

use super::proposal::path;
use super::{Proposal, ProposalState, Repository, SkillError};

impl Repository {
    /// All that a user has proposed, with what became of it.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn proposals_of(
        &self,
        user: &UserId,
    ) -> Result<Vec<(ProposalState, Proposal)>, SkillError> {
        let mut found = Vec::new();
        for state in [ProposalState::Waiting, ProposalState::Approved, ProposalState::Rejected] {
            let of_state = self.proposals(state)?.into_iter().filter(|it| it.user == user.as_str());
            found.extend(of_state.map(|it| (state, it)));
        }
        Ok(found)
    }

    /// Removes what a user has proposed and is not active by it, with its text where no other proposal has the same. Gives
    /// how many. What a person approved is the operator's, and stays. The receipt proves that it was recorded first.
    ///
    /// # Errors
    /// If one cannot be read or removed.
    pub fn forget(&self, user: &UserId, _: &Receipt) -> Result<usize, SkillError> {
        let own = self.proposals_of(user)?;
        let own = own.iter().filter(|(state, _)| *state != ProposalState::Approved);
        let own: Vec<&(ProposalState, Proposal)> = own.collect();
        if own.is_empty() {
            return Ok(0);
        }
        let _lock = self.lock()?;
        for (state, it) in &own {
            private::remove(&self.path.join(path(*state, it.id)))?;
        }
        let mut kept = self.proposals(ProposalState::Approved)?;
        kept.extend(self.proposals(ProposalState::Waiting)?);
        kept.extend(self.proposals(ProposalState::Rejected)?);
        for (_, it) in &own {
            self.objects.remove(&it.commit)?;
            if kept.iter().all(|other| other.text != it.text) {
                self.objects.remove(&it.text)?;
            }
        }
        Ok(own.len())
    }
}
