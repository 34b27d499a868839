//! Lists of several servers as one. A server that is gone, or that takes too long, is left out.

use super::Session;
use super::own::Listing;
use super::state::{Open, Phase, Stage};
use crate::era::{self, Era};
use crate::gate::{self, Begun, Call, Delivery, GateError, Kind, Offer, Ticket};
use crate::limits::HANDSHAKE_WAIT;
use crate::message::Id;
use crate::method::List;
use crate::names;
use crate::shown;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A list request of the client that waits for every server's part.
#[derive(Debug)]
pub(super) struct Gather {
    id: Id,
    era: Era,
    list: List,
    pending: BTreeSet<usize>,
    /// Servers that are still to say what they have: a client may list once, and at once.
    late: BTreeSet<usize>,
    parts: BTreeMap<usize, Vec<Value>>,
}

impl Session {
    pub(super) fn gather(&mut self, id: &Id, list: List, era: Era) {
        let is_waited_for = !self.has_begun();
        let late = self.links.iter().enumerate().filter(|(_, link)| {
            is_waited_for && matches!(link.phase, Phase::New | Phase::Negotiating)
        });
        let late: BTreeSet<usize> = late.map(|(server, _)| server).collect();
        self.counter += 1;
        let key = self.counter;
        let method = list.method().to_owned();
        let stage = Stage::Gathering(key);
        self.open.insert(id.clone(), Open { server: 0, method, era, progress: None, stage });
        late.iter().for_each(|server| self.probe(*server));
        let ready = (0..self.links.len()).filter(|it| !late.contains(it));
        let ready: BTreeSet<usize> = ready.filter(|it| self.offers(*it, list)).collect();
        let (pending, parts) = (ready.clone(), BTreeMap::new());
        let gather = Gather { id: id.clone(), era, list, pending, late, parts };
        self.gathers.insert(key, gather);
        ready.into_iter().for_each(|server| self.gather_from(key, server, list));
        self.finish_gather(key);
    }

    /// Can a server be asked for such a list?
    fn offers(&self, server: usize, list: List) -> bool {
        let link = self.links.get(server);
        link.is_some_and(|it| matches!(it.phase, Phase::Ready(_)) && it.has(list.capability()))
    }

    fn gather_from(&mut self, key: u64, server: usize, list: List) {
        if list == List::Tools {
            self.start_listing(server, list, Some(key), None);
        } else if let Some(ticket) = self.begin_listing(server, list) {
            self.start_listing(server, list, Some(key), Some(ticket));
        } else {
            self.gathered(key, server, Vec::new());
        }
    }

    /// Goes on with the lists that wait for a server, which is ready now, or gone.
    pub(super) fn gather_late(&mut self, server: usize) {
        let waiting = self.gathers.iter().filter(|it| it.1.late.contains(&server));
        let waiting: Vec<(u64, List)> = waiting.map(|(key, it)| (*key, it.list)).collect();
        for (key, list) in waiting {
            let offers = self.offers(server, list);
            if let Some(gather) = self.gathers.get_mut(&key) {
                gather.late.remove(&server);
                if offers {
                    gather.pending.insert(server);
                }
            }
            if offers {
                self.gather_from(key, server, list);
            }
            self.finish_gather(key);
        }
    }

    /// Lists wait for servers that begin as long as a handshake does, and then go without them.
    pub(super) fn expire_gathers(&mut self) {
        if !self.has_begun() {
            return;
        }
        let waiting = self.gathers.iter_mut().filter(|it| !it.1.late.is_empty());
        let waiting: Vec<u64> = waiting
            .map(|(key, it)| {
                it.late.clear();
                *key
            })
            .collect();
        waiting.into_iter().for_each(|key| self.finish_gather(key));
    }

    /// Did every server have the time that it may take to begin?
    fn has_begun(&self) -> bool {
        self.now.saturating_duration_since(self.began) >= HANDSHAKE_WAIT
    }

    pub(super) fn begin_listing(&self, server: usize, list: List) -> Option<Ticket> {
        let name = self.links.get(server).map_or("", |link| link.name.as_str());
        let arguments = json!({});
        let call =
            Call { server: name, kind: Kind::List, name: list.method(), arguments: &arguments };
        match self.gate.begin(&call) {
            Ok(Begun::Allowed(ticket)) => Some(ticket),
            Ok(Begun::Denied { .. } | Begun::Asked { .. }) | Err(_) => None,
        }
    }

    /// Shows a whole list to the gate, and returns what it leaves of it.
    pub(super) fn finish_listing(&mut self, server: usize, listing: &mut Listing) -> Vec<Value> {
        let items = std::mem::take(&mut listing.items);
        let Some(ticket) = listing.ticket.take() else { return items };
        let mut result = Map::new();
        result.insert(listing.list.key().to_owned(), Value::Array(items));
        let result = Value::Object(result);
        let kept = match self.gate.finish(ticket, &result, false) {
            Ok(Delivery::AsItCame) => Some(result),
            Ok(Delivery::Replaced(text)) => crate::strict::parse(&text).ok(),
            Ok(Delivery::Withheld { .. }) | Err(_) => None,
        };
        let kept =
            kept.as_ref().and_then(|it| it.get(listing.list.key())).and_then(Value::as_array);
        let mut kept = kept.cloned().unwrap_or_default();
        match self.hold_offers(server, listing.list, &mut kept, false) {
            Ok(_) => kept,
            Err(_) => Vec::new(),
        }
    }

    /// Takes out of a list what the gate holds until a person has looked at it; says whether that was anything.
    pub(super) fn hold_offers(
        &mut self,
        server: usize,
        list: List,
        items: &mut Vec<Value>,
        is_continued: bool,
    ) -> Result<bool, GateError> {
        let Some(offer) = list.offer() else { return Ok(false) };
        let name = self.links.get(server).map_or("", |link| link.name.as_str());
        let held = self.gate.offers(name, offer, gate::Listing { items, is_continued })?;
        if let Some(link) = self.links.get_mut(server).filter(|_| offer == Offer::Prompts) {
            link.prompts.see(items);
        }
        let before = items.len();
        let name = |it: &Value| it.get(offer.name_key()).and_then(Value::as_str).map(str::to_owned);
        items.retain(|it| name(it).is_none_or(|it| !held.contains(&it)));
        Ok(items.len() != before)
    }

    pub(super) fn gathered(&mut self, key: u64, server: usize, items: Vec<Value>) {
        let Some(gather) = self.gathers.get_mut(&key) else { return };
        if gather.pending.remove(&server) {
            gather.parts.insert(server, items);
        }
        self.finish_gather(key);
    }

    fn finish_gather(&mut self, key: u64) {
        let is_whole = |it: &Gather| it.pending.is_empty() && it.late.is_empty();
        if !self.gathers.get(&key).is_some_and(is_whole) {
            return;
        }
        let Some(gather) = self.gathers.remove(&key) else { return };
        self.open.remove(&gather.id);
        let mut all = Vec::new();
        for (server, items) in gather.parts {
            // A server that is gone by now has nothing any more.
            if matches!(self.phase(server), Phase::Ready(_)) {
                all.extend(
                    items.into_iter().filter_map(|item| self.named(server, gather.list, item)),
                );
            }
        }
        let mut result = Map::new();
        result.insert(gather.list.key().to_owned(), Value::Array(all));
        let mut result = Value::Object(result);
        if gather.era == Era::Modern {
            era::complete(gather.list.method(), &mut result);
        }
        self.respond(&gather.id, result);
    }

    /// Gives an item the name that the client sees; `None` where it cannot have one.
    fn named(&mut self, server: usize, list: List, mut item: Value) -> Option<Value> {
        let key = match list {
            List::Tools => "name",
            List::Prompts | List::Resources | List::ResourceTemplates => list.offer()?.name_key(),
        };
        let own = item.get(key)?.as_str()?.to_owned();
        if matches!(list, List::Resources | List::ResourceTemplates) {
            return self.routes.add_resource(&own, server).then_some(item);
        }
        let name = self.links.get(server).map_or("", |link| link.name.as_str());
        let Some(whole) = names::prefixed(name, &own) else {
            let detail = json!({"name": shown::log_value(&own), "reason": "its name is too long with the server's"});
            self.note(server, "name_dropped", &detail);
            return None;
        };
        *item.get_mut(key)? = json!(whole);
        Some(item)
    }
}
