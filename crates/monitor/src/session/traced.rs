//! Where the values of a call come from, as the session knows it.

use model::{Profile, Role, Taint};

use super::Session;
use crate::provenance::{Traced, Unseen};
use crate::understood::Understood;
use crate::{carried, command, connection, taint};

impl Session {
    pub(crate) fn trace(&self, asked: &Understood) -> Traced {
        let mut traced = self.trace_values(asked);
        // An address that carries something off is a destination, wherever it stands: once others had their say.
        if taint::is_outside(self.flags()) && (asked.acts() || carried::is_answer(asked)) {
            let hosts = carried::hosts(asked);
            let hosts = hosts.iter().map(String::as_str);
            self.ledger.trace_hosts(("text", Unseen::Held), hosts, &mut traced);
        }
        traced
    }

    fn trace_values(&self, asked: &Understood) -> Traced {
        if asked.command.is_some() {
            let mut traced = Traced::default();
            let unseen = if self.has_something_to_lose() { Unseen::Held } else { Unseen::Passes };
            let host = connection::host(asked, &self.reach.inner);
            self.ledger.trace_hosts(("url", unseen), host.iter().map(String::as_str), &mut traced);
            return traced;
        }
        // To follow a link is what a reader does, unless there is something to lose.
        let is_fetch = asked.call.flow.roles.values().any(|it| *it == Role::Destination);
        if !asked.deeds.are_known() || is_fetch && self.has_something_to_lose() {
            let intent = self.tools.intent(&self.ledger, &asked.call);
            let mut traced =
                self.ledger.trace(&asked.call.call, &asked.call.flow, &asked.act, intent);
            let hosts = command::hosts(&asked.commands);
            self.ledger.trace_hosts(("command", Unseen::Passes), hosts, &mut traced);
            return traced;
        }
        // To look at a page that a text names is no act; to bring or send something there is.
        let mut traced = Traced::default();
        if !asked.deeds.acts().is_empty() {
            let hosts = command::hosts(&asked.commands);
            self.ledger.trace_hosts(("command", Unseen::Passes), hosts, &mut traced);
        }
        self.ledger.trace_deeds(&asked.deeds, &mut traced);
        traced
    }

    /// Is it to be asked where something goes that nobody named, as when a page is fetched?
    fn has_something_to_lose(&self) -> bool {
        let grave = Taint::SECRET_RISK.union(Taint::INJECTION_SUSPECT);
        self.profile == Profile::Paranoid || self.flags().bits() & grave.bits() != 0
    }
}
