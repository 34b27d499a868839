//! What the questions of one turn cost its user: each is paid from the books before it is asked.
//!
//! INVARIANT (OnePriceList): a question costs what `models.prices` say; `serve.prices` only where they say nothing.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{Aside, Estimate, NotPaid, Purse, Reached, TurnError, TurnErrorCode, percentage};
use evidence::Clock;
use llm::{Price, Usage};
use policy::access::{Budget, Limits, Prices, Unit, User};

use crate::admit::may_use;
use crate::app::App;
use crate::books::{Account, Books, Exceeded, Spent, Totals, windows};
use crate::deletion::{BEING_DELETED, InUse};
use crate::limits::WARN_PERCENT;
use crate::server::Handle;

/// The account of one turn, or of one run of a job.
pub(crate) struct Tab {
    books: Arc<Books>,
    clock: Arc<dyn Clock>,
    user: Arc<User>,
    agent: String,
    session: String,
    /// For models that have no price of their own.
    price: Option<Price>,
    /// Held by a turn that is in no queue of the server.
    in_use: Option<InUse>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is set aside and not yet settled.
    open: BTreeSet<i64>,
    /// The row of what was settled.
    row: Option<i64>,
    spent: Spent,
    /// Was something used of which nobody knows what it costs?
    unpriced: bool,
    exceeded: Option<Exceeded>,
}

impl Tab {
    /// Of a user with an agent of the server.
    pub(crate) fn new(app: &App, user: &Arc<User>, agent: &str, session: &str) -> Self {
        let (books, clock) = (Arc::clone(&app.books), Arc::clone(&app.parts.clock));
        let directory = app.directory();
        Self::of((books, clock), (user, agent, session), directory.settings.prices.as_ref())
    }

    /// Of a user with an agent, in these books. `prices` count for models that have none of their own.
    pub(crate) fn of(
        (books, clock): (Arc<Books>, Arc<dyn Clock>),
        (user, agent, session): (&Arc<User>, &str, &str),
        prices: Option<&Prices>,
    ) -> Self {
        Self {
            books,
            clock,
            user: Arc::clone(user),
            agent: agent.to_owned(),
            session: session.to_owned(),
            price: prices.map(price_of),
            in_use: None,
            state: Mutex::default(),
        }
    }

    /// Is something left of the budget?
    ///
    /// # Errors
    /// If not, or if the books do not answer.
    pub(crate) fn open(&self) -> Result<(), NotPaid> {
        match self.books.left(&self.account(), self.clock.unix_seconds()) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(exceeded)) => Err(self.exceed(exceeded)),
            Err(_) => Err(unanswered()),
        }
    }

    /// What was used of it, settled.
    pub(crate) fn spent(&self) -> Spent {
        self.state().spent
    }

    /// Is it known what all of that costs?
    pub(crate) fn is_priced(&self) -> bool {
        !self.state().unpriced
    }

    /// The limit that was reached, if one was.
    pub(crate) fn exceeded(&self) -> Option<Exceeded> {
        self.state().exceeded.clone()
    }

    /// The same; else a turn without an answer, with the limit.
    pub(crate) fn opened(self) -> Result<Self, Box<TurnError>> {
        match self.open() {
            Ok(()) => Ok(self),
            Err(why) => Err(Box::new(TurnError::from(why).at(Purse::exceeded(&self)))),
        }
    }

    fn exceed(&self, exceeded: Exceeded) -> NotPaid {
        let reached = self.reached(&exceeded);
        let message = format!(
            "the {} budget is not enough for another question to a model: {reached}",
            reached.budget
        );
        self.state().exceeded = Some(exceeded);
        NotPaid::new(TurnErrorCode::BudgetExceeded, message)
    }

    fn account(&self) -> Account<'_> {
        Account { user: &self.user, agent: &self.agent, session: &self.session }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reached(&self, it: &Exceeded) -> Reached {
        let unit = match &self.user.budget {
            Budget::Limited(Limits { unit: Unit::Usd, .. }) => "usd",
            Budget::Limited(_) | Budget::Unlimited => "tokens",
        };
        Reached {
            budget: it.budget.to_owned(),
            limit: it.limit,
            used: it.used,
            unit: unit.to_owned(),
            resets_at: it.resets_at.map(aegx::timestamp::from_unix),
        }
    }

    fn is_in_dollars(&self) -> bool {
        matches!(&self.user.budget, Budget::Limited(limits) if limits.unit == Unit::Usd)
    }
}

impl Purse for Tab {
    fn before(&self, most: &Estimate) -> Result<Aside, NotPaid> {
        if self.in_use.as_ref().is_some_and(InUse::is_to_end) {
            return Err(NotPaid::new(TurnErrorCode::AccessDenied, BEING_DELETED));
        }
        let most = Estimate { price: most.price.or(self.price), ..*most };
        if most.price.is_none() && self.is_in_dollars() {
            let why = "the budget is in dollars, and neither `models.prices` nor `serve.prices` says what the model costs";
            return Err(NotPaid::new(TurnErrorCode::ModelUnpriced, why));
        }
        match self.books.reserve(&self.account(), &most, self.clock.unix_seconds()) {
            Ok(Ok(aside)) => {
                self.state().open.insert(aside.id);
                Ok(aside)
            }
            Ok(Err(exceeded)) => Err(self.exceed(exceeded)),
            // INVARIANT (FailClosed): what cannot be written down is not spent.
            Err(_) => Err(unanswered()),
        }
    }

    fn after(&self, aside: Aside, usage: &Usage, price: Option<Price>) {
        let price = price.or(self.price);
        let mut state = self.state();
        state.open.remove(&aside.id);
        let spent = Spent::of(usage, price.as_ref());
        state.spent = state.spent.and(spent);
        state.unpriced |= price.is_none();
        // What cannot be written down stays spent as it was set aside; so does what has no price, where there is a limit.
        if price.is_none() && self.is_in_dollars() {
            let _ = self.books.keep(aside.id);
        } else if let Ok(row) = self.books.settle(aside, state.row, usage, spent) {
            state.row = Some(row);
        }
    }

    fn end(&self) {
        let open = std::mem::take(&mut self.state().open);
        for id in open {
            // What cannot be written down stays set aside.
            let _ = self.books.keep(id);
        }
    }

    fn near(&self) -> Vec<Reached> {
        let Budget::Limited(limits) = &self.user.budget else { return Vec::new() };
        let now = self.clock.unix_seconds();
        // It is a warning: where the books do not answer, there is none, and the next question is not paid.
        let totals = self.books.totals(self.user.name.as_str(), &self.session, now);
        let all = totals.map(|it| near(limits, &it)).unwrap_or_default();
        all.iter().map(|it| self.reached(it)).collect()
    }

    fn exceeded(&self) -> Option<Reached> {
        let exceeded = self.state().exceeded.clone();
        exceeded.map(|it| self.reached(&it))
    }
}

/// The limits of which much is used.
pub(crate) fn near(limits: &Limits, totals: &Totals) -> Vec<Exceeded> {
    let all = windows(limits, totals).into_iter().map(|(budget, limit, spent)| {
        let used = spent.within(limits.unit);
        Exceeded { budget, limit, used, resets_at: None }
    });
    all.filter(|it| percentage(it.used, it.limit) >= WARN_PERCENT).collect()
}

pub(crate) fn unanswered() -> NotPaid {
    NotPaid::new(TurnErrorCode::Busy, "the books do not answer")
}

/// In micro-dollars, never less.
fn price_of(prices: &Prices) -> Price {
    const MICRO: f64 = 1_000_000.0;
    let micro = |dollars: f64| (dollars * MICRO).ceil() as u64;
    Price {
        input: micro(prices.input),
        output: micro(prices.output),
        cache_read: micro(prices.cache_read),
        cache_write: micro(prices.cache_creation),
    }
}

impl Handle {
    /// Who pays for what a user has an agent do beside the turns of this server. It blocks.
    ///
    /// # Errors
    /// Why nothing may be spent: there is no such user, they may not use the agent, have not agreed to the policy of
    /// now, or their budget is used up.
    pub fn purse(
        &self,
        user: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        let in_use = self.in_use(user)?;
        let directory = self.app.directory();
        // A job is no way around what its owner has to agree to.
        let wanted = &directory.settings.privacy.policy_version.0;
        let agreed = self.app.books.consent(user).map_err(|_| TurnError::from(unanswered()))?;
        if agreed.as_ref() != Some(wanted) {
            return Err(not_agreed(wanted));
        }
        self.purse_while(in_use, (user, agent, session))
    }

    /// The same for the operator at this machine, who needs not agree to their own policy.
    ///
    /// # Errors
    /// Why nothing may be spent: there is no such user, they may not use the agent, or their budget is used up.
    pub fn purse_here(
        &self,
        user: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        self.purse_while(self.in_use(user)?, (user, agent, session))
    }

    /// Begins something for a user, unless they are being deleted.
    fn in_use(&self, user: &str) -> Result<InUse, TurnError> {
        let entered = self.app.deletions.enter(user);
        entered.map_err(|it| TurnError::new(TurnErrorCode::AccessDenied, it.message))
    }

    fn purse_while(
        &self,
        in_use: InUse,
        (user, agent, session): (&str, &str, &str),
    ) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        let directory = self.app.directory();
        // Without a users file this is one person's machine, and there is no budget.
        if directory.users.iter().next().is_none() {
            return Ok(None);
        }
        let refused = |why: String| TurnError::new(TurnErrorCode::AccessDenied, why);
        let known = directory.named(user).ok_or_else(|| refused(NO_USER.to_owned()))?;
        may_use(&directory, &known, agent).map_err(|it| refused(it.message))?;
        let tab = Tab::new(&self.app, &known.user, agent, session);
        let tab = Tab { in_use: Some(in_use), ..tab };
        Ok(Some(Arc::new(tab.opened().map_err(|it| *it)?)))
    }
}

/// Why somebody has no account.
pub(crate) const NO_USER: &str = "users.yaml has no such user; `--user NAME` says for whom";

/// Whoever comes over the network agrees first.
pub(crate) fn not_agreed(wanted: &str) -> TurnError {
    let why = format!("its owner has not agreed to the policy {wanted}");
    TurnError::new(TurnErrorCode::AccessDenied, why)
}
