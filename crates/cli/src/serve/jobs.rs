//! Jobs that a server carries out, each on the account of its user.

use std::path::Path;
use std::sync::Arc;

use ::serve::Handle;
use agent::{Purse, TurnError};
use evidence::Receipt;
use host::GateError;
use host::agents::{Accounts, Agents, HandOver, Jobs};
use host::channels::Channels;
use host::scheduler::{Came, Delivery, RunEnd};
use model::Caller;

/// The books of the server.
struct Books(Handle);

impl Accounts for Books {
    fn begin(&self, who: &Caller) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        self.0.purse(who.user.as_str(), who.agent.as_str(), who.session.as_str())
    }
}

/// Answers go to the messengers to which the server listens.
struct Messengers(Arc<Channels>);

impl HandOver for Messengers {
    fn ended(&self, _: &Came, _: &RunEnd) {}

    fn deliver(
        &self,
        came: &Came,
        to: &Delivery,
        ended: &RunEnd,
        receipt: &Receipt,
    ) -> Result<String, String> {
        let said = self.0.deliver_of_job((&came.job, to), came.run.id, ended, receipt);
        said.map(|it| it.to_string()).map_err(|it| it.to_string())
    }
}

/// The jobs of a state directory, if its settings choose that the host carries them out.
pub(super) fn of(
    agents: &Arc<Agents>,
    home: &Path,
    handle: &Handle,
    channels: &Arc<Channels>,
) -> Result<Option<Jobs>, GateError> {
    let books = Arc::new(Books(handle.clone()));
    let messengers = Arc::new(Messengers(Arc::clone(channels)));
    Jobs::new(agents, home, messengers, Some(books))
}
