//! Requests of our own to servers: handshakes, lists, subscriptions.

use super::Session;
use super::state::Phase;
use crate::era::{self, Era};
use crate::gate::Ticket;
use crate::limits::LIST_WAIT;
use crate::message::{self, Id, Message};
use crate::method::List;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A request of ours under way.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) server: usize,
    pub(super) job: Job,
    /// When it counts as failed; a subscription never does.
    pub(super) deadline: Option<Instant>,
}

/// What a request of ours is for.
#[derive(Debug)]
pub(super) enum Job {
    Discover,
    Initialize,
    List(Listing),
    /// A subscription at a modern server, for a client that has none there.
    Listen,
    /// Nobody needs the answer.
    Ignore,
}

/// A list that is being read, page by page.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) list: List,
    pub(super) items: Vec<Value>,
    pub(super) pages: usize,
    /// The gathering that it is for; otherwise it is for the calls that wait.
    pub(super) gather: Option<u64>,
    pub(super) ticket: Option<Ticket>,
}

impl Listing {
    /// Whether calls of prompts wait for it.
    pub(super) fn is_for_prompts(&self) -> bool {
        self.gather.is_none() && self.list == List::Prompts
    }
}

impl Session {
    pub(super) fn ask_server(
        &mut self,
        server: usize,
        method: &str,
        params: Value,
        job: Job,
        wait: Duration,
    ) {
        let deadline = match job {
            Job::Listen => None,
            Job::Discover | Job::Initialize | Job::List(_) | Job::Ignore => Some(self.now + wait),
        };
        let id = self.new_id();
        let mut request =
            json!({"jsonrpc": "2.0", "id": id.to_value(), "method": method, "params": params});
        let is_modern =
            method == "server/discover" || self.phase(server) == Phase::Ready(Era::Modern);
        if is_modern {
            era::modernize(&mut request, &json!({}), &self.client.info, None);
        }
        self.own.insert(id, Own { server, job, deadline });
        self.send_server(server, message::encode(&request));
    }

    pub(super) fn ask_and_forget(&mut self, server: usize, method: &str, params: Value) {
        self.ask_server(server, method, params, Job::Ignore, LIST_WAIT);
    }

    pub(super) fn own_response(&mut self, id: &Id, failed: bool, message: &Message) {
        let Some(own) = self.own.remove(id) else { return };
        match own.job {
            Job::Discover | Job::Initialize => {
                self.own_handshake(own.server, &own.job, failed, message.outcome());
            }
            Job::List(listing) if failed => self.listing_failed(own.server, listing),
            Job::List(listing) => self.listing_page(own.server, listing, message.outcome()),
            Job::Listen | Job::Ignore => {}
        }
    }

    /// A request of ours that gets no answer that can be read.
    pub(super) fn own_failed(&mut self, id: &Id, error: &Value) {
        let Some(own) = self.own.remove(id) else { return };
        match own.job {
            Job::Discover | Job::Initialize => {
                self.own_handshake(own.server, &own.job, true, error)
            }
            Job::List(listing) => self.listing_failed(own.server, listing),
            Job::Listen | Job::Ignore => {}
        }
    }

    pub(super) fn expire_own(&mut self) {
        let now = self.now;
        let late = self.own.iter().filter(|(_, own)| own.deadline.is_some_and(|it| now >= it));
        let late: Vec<(Id, usize)> = late.map(|(id, own)| (id.clone(), own.server)).collect();
        for (id, server) in late {
            let is_list = self.own.get(&id).is_some_and(|own| matches!(own.job, Job::List(_)));
            if is_list {
                let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"requestId": id.to_value(), "reason": "it took too long"}});
                self.send_server(server, message::encode(&cancel));
            }
            self.own_failed(&id, &json!({"code": 0, "message": "no answer in time"}));
        }
        self.expire_relayed_discover();
    }

    pub(super) fn lose_own(&mut self, server: usize) {
        let lost = self.own.iter().filter(|(_, own)| own.server == server);
        let lost: Vec<Id> = lost.map(|(id, _)| id.clone()).collect();
        for id in lost {
            let Some(own) = self.own.remove(&id) else { continue };
            match own.job {
                Job::List(listing) => self.listing_failed(server, listing),
                Job::Discover | Job::Initialize | Job::Listen | Job::Ignore => {}
            }
        }
    }

    pub(super) fn give_back_own(&self, own: Own) {
        if let Job::List(Listing { ticket: Some(ticket), .. }) = own.job {
            self.gate.lost(ticket);
        }
    }
}
