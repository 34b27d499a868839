//! What somebody spends beside the turns of this server: a job that the host carries out for a user.

use llm::Usage;
use policy::access::{Budget, Prices, Unit};

use crate::admit::may_use;
use crate::books::{Account, Reservation};
use crate::server::Handle;

/// Something that was set aside for a user.
pub struct Aside {
    reservation: Reservation,
    prices: Option<Prices>,
}

impl Handle {
    /// Sets aside what a user may spend with an agent, for about so many tokens. It blocks.
    ///
    /// # Errors
    /// Why nothing may be spent: there is no such user, they may not use the agent, have not agreed to the policy of now, or
    /// their budget is used up.
    pub fn set_aside(
        &self,
        user: &str,
        agent: &str,
        session: &str,
        tokens: u64,
    ) -> Result<Aside, String> {
        let directory = self.app.directory();
        let known = directory.named(user).ok_or("there is no such user in users.yaml")?;
        may_use(&directory, &known, agent).map_err(|it| it.message)?;
        // A job is no way around what its owner has to agree to.
        let wanted = &directory.settings.privacy.policy_version.0;
        let agreed = self.app.books.consent(user).map_err(|_| "the books do not answer")?;
        if agreed.as_ref() != Some(wanted) {
            return Err(format!("its owner has not agreed to the policy {wanted}"));
        }
        let prices = directory.settings.prices;
        if let Budget::Limited(limits) = &known.user.budget
            && limits.unit == Unit::Usd
            && prices.is_none()
        {
            return Err(
                "the budget is in dollars, and `serve.prices` does not say what tokens cost"
                    .to_owned(),
            );
        }
        let account = Account { user: &known.user, agent, session, prices: prices.as_ref() };
        match self.app.books.reserve(&account, tokens, self.app.now()) {
            Ok(Ok(reservation)) => Ok(Aside { reservation, prices }),
            Ok(Err(exceeded)) => Err(format!("the {} budget is used up", exceeded.budget)),
            // INVARIANT (FailClosed): what cannot be written down is not spent.
            Err(_) => Err("the books do not answer".to_owned()),
        }
    }

    /// Puts what was used in the place of what was set aside; where more may have been used, no less is spent. It blocks.
    pub fn settle(&self, aside: Aside, usage: &Usage, is_all: bool) {
        let Aside { reservation, prices } = aside;
        // If it cannot be written down, it stays spent.
        let _ = match is_all {
            true => self.app.books.settle(reservation, usage, prices.as_ref()),
            false => self.app.books.settle_at_least(reservation, usage, prices.as_ref()),
        };
    }
}
