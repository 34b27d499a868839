//! Questions of sessions that no worker meters, those of `lazaret ipc`: their user pays for them as for all others.
//!
//! INVARIANT (ReservedFirst): what a question may use at most is set aside before it is asked.

use std::sync::Arc;

use agent::Estimate;
use llm::{Answer, ErrorKind, Flow, LlmError, Price, Request, Usage};
use model::Caller;

use super::Models;
use crate::agents::Accounts;
use crate::executor::Questions;
use crate::worker::Asks as _;

/// Has questions of one session paid.
#[derive(Clone)]
pub(crate) struct Payer {
    accounts: Arc<dyn Accounts>,
    who: Caller,
}

impl Payer {
    /// For the session of `who`.
    pub(crate) fn new(accounts: Arc<dyn Accounts>, who: &Caller) -> Self {
        Self { accounts, who: who.clone() }
    }

    /// Has a question asked that may use at most so much, and pays what it used. `ask` is told how long the answer may be, and
    /// tells what was used and what the model costs that answered.
    ///
    /// # Errors
    /// A sentence for whoever asks, if nobody pays: then nobody was asked.
    pub(super) fn paid<T>(
        &self,
        most: Estimate,
        request: &Request,
        ask: impl FnOnce(Option<u32>) -> (T, Usage, Option<Price>),
    ) -> Result<T, String> {
        let purse = self.accounts.begin(&self.who).map_err(|it| it.message)?;
        let Some(purse) = purse else { return Ok(ask(request.max_tokens).0) };
        let aside = purse.before(&most).map_err(|it| it.message)?;
        let enough = aside.output_tokens.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let (told, usage, price) = ask([request.max_tokens, enough].into_iter().flatten().min());
        purse.after(aside, &usage, price);
        purse.end();
        Ok(told)
    }
}

/// Models whose questions are paid.
pub(crate) struct Paid {
    models: Models,
    payer: Payer,
}

impl Paid {
    pub(crate) fn new(models: Models, payer: Payer) -> Self {
        Self { models, payer }
    }
}

impl Questions for Paid {
    fn ask(&self, who: &Caller, request: Request) -> Result<Answer, LlmError> {
        let price = self.models.price(&request.model);
        let most = Estimate::of(&request, price).asked_of(self.models.models_of(&request.model));
        let paid = self.payer.paid(most, &request, |max_tokens| {
            let asked = Request { max_tokens, ..request.clone() };
            let outcome = Models::ask(&self.models, who, &asked, &mut |_| Flow::Continue);
            let (usage, price) = match &outcome {
                Ok(answer) => (answer.usage, self.models.price_of(answer)),
                Err(error) => (error.usage, price),
            };
            (outcome, usage, price)
        });
        paid.unwrap_or_else(|why| Err(LlmError::new(ErrorKind::Invalid, why)))
    }
}
