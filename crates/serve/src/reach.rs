//! Can a model be asked? By what the settings choose, and by how it went lately.

use std::sync::{Mutex, PoisonError};

use agent::{TurnError, TurnErrorCode};
use llm::ErrorKind;
use model::provider::{Llm, Provider, ProviderKind};
use policy::access::Global;

/// How it went the last time that a turn asked a model.
#[derive(Default)]
pub(crate) struct Reach(Mutex<Option<Result<(), ErrorKind>>>);

impl Reach {
    /// Notes how a turn ended. One that ended for another reason tells nothing of models.
    pub(crate) fn note<T>(&self, ended: &Result<T, TurnError>) {
        let outcome = match ended {
            Ok(_) => Ok(()),
            Err(TurnError { code: TurnErrorCode::ModelError(kind), .. }) if is_providers(*kind) => {
                Err(*kind)
            }
            Err(_) => return,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    /// `ok`, the kind of the error, or nothing where nobody has asked yet.
    pub(crate) fn last(&self) -> Option<&'static str> {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.map(|it| it.map_or_else(ErrorKind::as_str, |()| "ok"))
    }
}

/// Does the error tell of the provider, rather than of what was asked?
fn is_providers(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Overloaded
        | ErrorKind::RateLimited
        | ErrorKind::InvalidKey
        | ErrorKind::Unreachable => true,
        ErrorKind::ContextTooLong | ErrorKind::Refused | ErrorKind::Invalid => false,
    }
}

/// Do the settings choose a model that is none of a script?
pub(crate) fn is_chosen(settings: &Global) -> bool {
    let Some(Provider::Llm(chosen)) = settings.provider(ProviderKind::Llm) else { return false };
    let models = settings.models();
    let named = models.chains.values().flatten().chain(&models.also);
    match models.chains.is_empty() && models.also.is_empty() {
        true => chosen != Llm::Mock,
        false => named.into_iter().any(|it| it.provider != Llm::Mock),
    }
}
