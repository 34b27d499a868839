//! Prompts of a server as it has listed them: one that the gate has not seen in a list is listed first, and what is in no list
//! cannot be had. Otherwise a prompt could be had whose definition nobody has accepted.

use super::Session;
use super::state::Target;
use crate::gate::Offer;
use crate::limits::TOOLS_MAX;
use crate::message::{DENIED, INVALID_PARAMS, Id, Message};
use crate::method::List;
use crate::shown;
use serde_json::Value;
use std::collections::HashSet;

/// Names of prompts that the gate has seen, those included that it holds.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    names: HashSet<String>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// There may be others.
    #[default]
    Some,
    /// We are listing them.
    Asked,
    /// There are no others.
    All,
    /// They could not be listed; who waits for them is told.
    Failed,
}

impl Prompts {
    /// Takes note of a page that the gate has seen.
    pub(super) fn see(&mut self, items: &[Value]) {
        let names = items.iter().filter_map(|it| it.get(Offer::Prompts.name_key())?.as_str());
        for name in names {
            if self.names.len() < TOOLS_MAX {
                self.names.insert(name.to_owned());
            }
        }
    }

    /// Forgets them: the server said that they changed. A list that is under way may be an old one.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Session {
    /// Lets a call of a prompt on that the gate has seen; `None` where the call was answered or has to wait.
    pub(super) fn check_prompt(
        &mut self,
        id: &Id,
        message: Message,
        target: &Target,
    ) -> Option<Message> {
        let server = target.server;
        let prompts = &mut self.links.get_mut(server)?.prompts;
        if prompts.names.contains(&target.name) {
            return Some(message);
        }
        match prompts.state {
            State::All => {
                let name = shown::log_value(&target.name);
                let text =
                    format!("there is no prompt `{name}`; list the prompts to see what there is");
                self.fail(id, INVALID_PARAMS, &text);
            }
            State::Failed => self.fail(id, DENIED, NOT_LISTED),
            State::Asked => self.wait(id, server, message, target.era),
            State::Some => match self.begin_listing(server, List::Prompts) {
                Some(ticket) => {
                    self.set_prompts(server, State::Asked);
                    self.wait(id, server, message, target.era);
                    self.start_listing(server, List::Prompts, None, Some(ticket));
                }
                None => self.fail(id, DENIED, NOT_LISTED),
            },
        }
        None
    }

    /// Takes up the calls that waited for a server's prompts, now that they are listed or that they cannot be.
    pub(super) fn prompts_listed(&mut self, server: usize, is_listed: bool) {
        let is_asked = |it: &Prompts| it.state == State::Asked;
        // What changed meanwhile is listed once more, for whoever waits.
        let is_current = self.links.get(server).is_some_and(|it| is_asked(&it.prompts));
        if is_current {
            self.set_prompts(server, if is_listed { State::All } else { State::Failed });
        }
        self.release(server);
        if !is_listed && is_current {
            self.set_prompts(server, State::Some);
        }
    }

    fn set_prompts(&mut self, server: usize, state: State) {
        if let Some(link) = self.links.get_mut(server) {
            link.prompts.state = state;
        }
    }
}

const NOT_LISTED: &str = "The server's prompts could not be listed, so that none can be had.";
