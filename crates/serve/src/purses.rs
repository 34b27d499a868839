//! What users spend where no server runs: `lazaret run`, `chat` and `scheduler run`, and the daemon, pay from the books of
//! the server, by the same users file.
//!
//! INVARIANT (OneBudget): whoever has an agent of ours do something on a state directory pays from one budget. Whoever has
//! the gate has the books: it is one process at a time, and what the one before set aside stays spent.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent::{Purse, TurnError, TurnErrorCode};
use evidence::Clock;
use host::AdmissionError;
use host::agents::Accounts;
use model::Caller;
use policy::access::KnownTools;

use crate::books::{Books, BooksError};
use crate::tab::{NO_USER, Tab, not_agreed, unanswered};

/// Pays for the users of a state directory. The books are opened when somebody pays for the first time.
pub struct Purses {
    home: PathBuf,
    clock: Arc<dyn Clock>,
    books: Mutex<Option<Arc<Books>>>,
}

impl Purses {
    /// Of the state directory `home`, for whoever has the gate there.
    #[must_use]
    pub fn of(home: &Path, clock: Arc<dyn Clock>) -> Self {
        Self { home: home.to_owned(), clock, books: Mutex::default() }
    }

    /// Who pays for what a user has an agent do, by the users file of now; nobody where there is no such file, and so
    /// no budget.
    ///
    /// # Errors
    /// Why nothing may be spent: the files are not understood, there is no such user, or their budget is used up.
    pub fn purse(
        &self,
        user: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        let users = host::users(&self.home, &KnownTools::default()).map_err(broken)?;
        let Some(users) = users else { return Ok(None) };
        let known = users.get(user).cloned();
        let known = known.ok_or_else(|| TurnError::new(TurnErrorCode::AccessDenied, NO_USER))?;
        let settings = host::settings(&self.home).map_err(broken)?.unwrap_or_default();
        let prices = settings.serve().prices.as_ref();
        // INVARIANT (FailClosed): without books nothing is spent.
        let books = self.books().map_err(|_| TurnError::from(unanswered()))?;
        let of = (&Arc::new(known), agent, session);
        let tab = Tab::of((books, Arc::clone(&self.clock)), of, prices);
        Ok(Some(Arc::new(tab.opened().map_err(|it| *it)?)))
    }

    fn books(&self) -> Result<Arc<Books>, BooksError> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(books) = &*books {
            return Ok(Arc::clone(books));
        }
        let opened = Arc::new(Books::open(&self.home)?);
        *books = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl Accounts for Purses {
    fn begin(&self, who: &Caller) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        let user = who.user.as_str();
        let purse = self.purse(user, who.agent.as_str(), who.session.as_str())?;
        if purse.is_some() {
            // Whoever comes over the network has agreed to something before they could make a job. That there is no
            // server now is no way around the policy of now. Who never agreed never came that way.
            let settings = host::settings(&self.home).map_err(broken)?.unwrap_or_default();
            let wanted = &settings.serve().privacy.policy_version.0;
            let agreed = self.books().and_then(|it| it.consent(user));
            let agreed = agreed.map_err(|_| TurnError::from(unanswered()))?;
            if agreed.as_ref().is_some_and(|it| it != wanted) {
                return Err(not_agreed(wanted));
            }
        }
        Ok(purse)
    }
}

/// Where the files are not understood, nobody is admitted.
fn broken(why: AdmissionError) -> TurnError {
    TurnError::new(TurnErrorCode::AgentNotFound, why.to_string())
}
