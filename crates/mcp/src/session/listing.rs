//! Lists of tools: read, shown to the gate, and passed on without what it hides or holds.

use super::Session;
use super::client::token;
use super::own::{self, Job};
use super::state::{Open, Phase, Stage};
use crate::catalogue::{Page, Visible};
use crate::era::{self, Era};
use crate::gate::{GateError, Kind, Listing};
use crate::limits::{LIST_WAIT, PAGES_MAX, TOOLS_MAX};
use crate::message::{Body, INTERNAL_ERROR, Id, Message};
use crate::method::{Gated, List, Subject};
use crate::reply;
use serde_json::{Value, json};

impl Session {
    /// Takes a list request of the client of a single server.
    pub(super) fn list(&mut self, id: &Id, message: Message, list: List, era: Era) {
        if list != List::Tools {
            let gated = Gated { kind: Kind::List, subject: Subject::Method };
            return self.call(id, message, gated, era);
        }
        match self.phase(0) {
            Phase::Ready(_) => {}
            Phase::Gone { reason } => return self.unavailable(id, 0, &reason),
            Phase::New | Phase::Negotiating => {
                self.probe(0);
                return self.wait(id, 0, message, era);
            }
        }
        let cursor = message.params().get("cursor").and_then(Value::as_str).map(str::to_owned);
        let method = message.method().to_owned();
        let stage = Stage::Tools { cursor };
        let open = Open { server: 0, method, era, progress: token(&message), stage };
        self.open.insert(id.clone(), open);
        let line = self.for_server(0, message, era);
        self.send_server(0, line);
    }

    /// Takes a page of tools that the client asked for.
    pub(super) fn tools_page(
        &mut self,
        id: &Id,
        server: usize,
        era: Era,
        cursor: Option<String>,
        mut message: Message,
    ) {
        let result = message.outcome();
        let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        let mut listed = message.value.pointer_mut("/result/tools").and_then(Value::as_array_mut);
        let tools = listed.as_mut().map(|it| std::mem::take(*it)).unwrap_or_default();
        let visible = match self.take_tools(server, tools, cursor.as_deref(), next.as_deref()) {
            Ok(visible) => visible,
            Err(error) => return self.fail(id, INTERNAL_ERROR, &error.to_string()),
        };
        let is_legacy = self.phase(server) == Phase::Ready(Era::Legacy);
        if let Some(listed) = message.value.pointer_mut("/result/tools").filter(|it| it.is_array())
        {
            *listed = Value::Array(visible.tools);
            message.changed |= !visible.is_whole;
        }
        if let Some(result) = message.value.get_mut("result") {
            message.changed |=
                self.quieten_beside(server, "tools/list", result, &["tools", "nextCursor"]);
        }
        if era == Era::Modern
            && is_legacy
            && let Some(result) = message.value.get_mut("result")
        {
            era::complete("tools/list", result);
            message.changed = true;
        }
        self.send_client(message.into_line());
        self.release_if_listed(server);
    }

    /// Lists a server's tools because a call needs their definitions.
    pub(super) fn list_for_ourselves(&mut self, server: usize) {
        let Some(link) = self.links.get_mut(server) else { return };
        if link.is_listing {
            return;
        }
        link.is_listing = true;
        self.start_listing(server, List::Tools, None, None);
    }

    pub(super) fn start_listing(
        &mut self,
        server: usize,
        list: List,
        gather: Option<u64>,
        ticket: Option<crate::gate::Ticket>,
    ) {
        let listing = own::Listing { list, items: Vec::new(), pages: 0, gather, ticket };
        self.ask_server(server, list.method(), json!({}), Job::List(listing), LIST_WAIT);
    }

    pub(super) fn listing_page(
        &mut self,
        server: usize,
        mut listing: own::Listing,
        result: &Value,
    ) {
        let items = result.get(listing.list.key()).and_then(Value::as_array);
        listing.items.extend(items.into_iter().flatten().cloned());
        listing.pages += 1;
        let next = result.get("nextCursor").and_then(Value::as_str);
        if let Some(cursor) = next
            && listing.pages < PAGES_MAX
            && listing.items.len() < TOOLS_MAX
        {
            let (method, params) = (listing.list.method(), json!({"cursor": cursor}));
            return self.ask_server(server, method, params, Job::List(listing), LIST_WAIT);
        }
        listing.items.truncate(TOOLS_MAX);
        if listing.list == List::Tools {
            return self.tools_listed(server, listing);
        }
        let items = self.finish_listing(server, &mut listing);
        if listing.is_for_prompts() {
            self.prompts_listed(server, true);
        }
        self.listed(server, &listing, items);
    }

    fn tools_listed(&mut self, server: usize, mut listing: own::Listing) {
        let items = std::mem::take(&mut listing.items);
        let taken = self.take_tools(server, items, None, None);
        self.listed_for_ourselves(server, &listing);
        match taken {
            Ok(visible) => {
                self.listed(server, &listing, visible.tools);
                self.release_if_listed(server);
            }
            Err(error) => {
                self.listed(server, &listing, Vec::new());
                self.fail_waiting(server, &error.to_string());
            }
        }
    }

    pub(super) fn listing_failed(&mut self, server: usize, mut listing: own::Listing) {
        if let Some(ticket) = listing.ticket.take() {
            self.gate.lost(ticket);
        }
        self.listed_for_ourselves(server, &listing);
        self.listed(server, &listing, Vec::new());
        if listing.is_for_prompts() {
            self.prompts_listed(server, false);
        }
        if listing.list == List::Tools {
            self.fail_waiting(server, "The server did not list its tools, so none can be called.");
        }
    }

    fn listed_for_ourselves(&mut self, server: usize, listing: &own::Listing) {
        if listing.gather.is_none()
            && listing.list == List::Tools
            && let Some(link) = self.links.get_mut(server)
        {
            link.is_listing = false;
        }
    }

    fn listed(&mut self, server: usize, listing: &own::Listing, items: Vec<Value>) {
        if let Some(gather) = listing.gather {
            self.gathered(gather, server, items);
        }
    }

    /// Shows definitions to the gate and keeps them; returns what the client may see.
    fn take_tools(
        &mut self,
        server: usize,
        tools: Vec<Value>,
        cursor: Option<&str>,
        next: Option<&str>,
    ) -> Result<Visible, GateError> {
        let page = Page::parse(tools);
        if !page.dropped.is_empty() {
            self.note(server, "tools_dropped", &page.dropped_detail());
        }
        let name = self.links.get(server).map_or("", |link| link.name.as_str());
        let listed = Listing { items: &page.definitions, is_continued: cursor.is_some() };
        let listed = self.gate.tools(name, listed);
        let Some(link) = self.links.get_mut(server) else { return Ok(Visible::default()) };
        match listed {
            Ok(listed) => Ok(link.catalogue.take(page, cursor, next, &listed)),
            Err(error) => {
                link.catalogue.mark_stale();
                Err(error)
            }
        }
    }

    fn release_if_listed(&mut self, server: usize) {
        if self.links.get(server).is_some_and(|link| link.catalogue.is_complete()) {
            self.release(server);
        }
    }

    /// Ends the calls that wait for a list that does not come.
    fn fail_waiting(&mut self, server: usize, reason: &str) {
        let Some(link) = self.links.get_mut(server) else { return };
        for message in std::mem::take(&mut link.waiting) {
            let Body::Request { id, method } = message.body.clone() else { continue };
            let Some(open) = self.take_waiting(&id) else { continue };
            if method == "tools/call" {
                self.respond(&id, reply::refusal(open.era, reason));
            } else {
                self.route_request(&id, message, open.era);
            }
        }
    }
}
