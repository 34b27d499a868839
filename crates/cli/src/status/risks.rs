//! How risky what goes on in sessions is, by the settings under which the gate judges it.

use std::path::Path;

use monitor::risk::{self, Level, Tuning};
use policy::access::Global;
use store::{Oversight, SessionRow, SessionState};

use crate::failure::Failure;

/// Sessions whose risk is looked at, the newest.
const RISKS_MAX: usize = 200;

/// Looks up what the store kept of sessions.
pub(super) struct Risks<'a> {
    store: Option<&'a dyn Oversight>,
    tuning: Tuning,
}

impl<'a> Risks<'a> {
    pub(super) fn new(home: &Path, store: Option<&'a dyn Oversight>) -> Result<Self, Failure> {
        let settings = host::settings(home).map_err(Failure::usage)?;
        let risk = settings.as_ref().map(|it: &Global| &it.security().risk);
        Ok(Self { store, tuning: risk.map_or_else(Tuning::default, Tuning::under) })
    }

    /// That of a session that goes on; none where there is no store.
    pub(super) fn of(&self, it: &SessionRow) -> Result<Option<Level>, Failure> {
        let Some(store) = self.store.filter(|_| it.state == SessionState::Open) else {
            return Ok(None);
        };
        let changes = store.changes(&it.id).map_err(Failure::unable)?;
        risk::kept(&changes, self.tuning).map(Some).map_err(Failure::unable)
    }

    /// The highest of the sessions that go on.
    pub(super) fn highest<'b>(
        &self,
        all: impl IntoIterator<Item = &'b SessionRow>,
    ) -> Result<Level, Failure> {
        let mut highest = Level::Calm;
        let open = all.into_iter().filter(|it| it.state == SessionState::Open);
        for it in open.take(RISKS_MAX) {
            highest = highest.max(self.of(it)?.unwrap_or(Level::Calm));
        }
        Ok(highest)
    }
}
