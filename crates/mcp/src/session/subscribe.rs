//! Subscriptions: a modern client's at servers that know none, and ours at modern servers for a client that has none.

use super::Session;
use super::own::Job;
use super::state::{Open, Phase, Stage};
use crate::era::{Era, META_SUBSCRIPTION};
use crate::gate::Ticket;
use crate::limits::{LIST_WAIT, SUBSCRIPTIONS_MAX};
use crate::message::{self, Id, Message, SERVER_UNAVAILABLE};
use serde_json::{Value, json};

impl Session {
    /// Keeps a modern client's subscription ourselves.
    pub(super) fn listen(&mut self, id: &Id, message: &Message, ticket: Ticket) {
        let kept = self.open.values().filter(|open| matches!(open.stage, Stage::Listening { .. }));
        if kept.count() >= SUBSCRIPTIONS_MAX {
            self.gate.unsent(ticket);
            return self.fail(
                id,
                SERVER_UNAVAILABLE,
                "too many subscriptions are open; cancel one",
            );
        }
        let wanted = message.params().get("notifications").cloned().unwrap_or_else(|| json!({}));
        let uris = wanted.get("resourceSubscriptions").and_then(Value::as_array);
        let uris: Vec<String> =
            uris.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        for uri in uris.iter().take(SUBSCRIPTIONS_MAX) {
            let server = if self.prefixes { self.routes.resource(uri) } else { Some(0) };
            if let Some(server) = server
                && self.phase(server) == Phase::Ready(Era::Legacy)
            {
                self.ask_and_forget(server, "resources/subscribe", json!({"uri": uri}));
            }
        }
        self.send_client(message::encode(&json!({
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": {META_SUBSCRIPTION: id.to_value()}, "notifications": wanted},
        })));
        let stage = Stage::Listening { ticket, wanted };
        let method = message.method().to_owned();
        let open = Open { server: 0, method, era: Era::Modern, progress: None, stage };
        self.open.insert(id.clone(), open);
    }

    /// Subscribes at a modern server to what a legacy client hears without asking.
    pub(super) fn listen_for_ourselves(&mut self, server: usize) {
        let Some(link) = self.links.get(server) else { return };
        let changes = |name: &str| {
            link.capabilities
                .get(name)
                .and_then(|it| it.get("listChanged"))
                .and_then(Value::as_bool)
                == Some(true)
        };
        let (tools, prompts, resources) =
            (changes("tools"), changes("prompts"), changes("resources"));
        if tools || prompts || resources {
            let params = json!({"notifications": {
                "toolsListChanged": tools, "promptsListChanged": prompts, "resourcesListChanged": resources,
            }});
            self.ask_server(server, "subscriptions/listen", params, Job::Listen, LIST_WAIT);
        }
    }

    /// Takes a server's word that something changed, and tells the client in its own way.
    pub(super) fn changed(&mut self, server: usize, message: Message) {
        let subscription = message.params().get("_meta").and_then(|it| it.get(META_SUBSCRIPTION));
        let subscription = subscription.and_then(Id::parse);
        let is_acknowledgement = message.method() == "notifications/subscriptions/acknowledged";
        let is_direct = !self.prefixes
            && match self.phase(server) {
                Phase::Ready(Era::Modern) => {
                    subscription.is_some_and(|it| self.open.contains_key(&it))
                }
                Phase::Ready(Era::Legacy) => self.client.era == Some(Era::Legacy),
                Phase::New | Phase::Negotiating | Phase::Gone { .. } => false,
            };
        if is_direct {
            return self.send_client(message.into_line());
        }
        if !is_acknowledgement {
            let mut params = message.params().as_object().cloned().unwrap_or_default();
            params.remove("_meta");
            self.announce_change(message.method(), Value::Object(params));
        }
    }

    /// Tells the client of a change: every subscription that wants it, or a legacy client at once.
    pub(super) fn announce_change(&mut self, method: &str, params: Value) {
        if self.client.era == Some(Era::Legacy) {
            let mut notification = json!({"jsonrpc": "2.0", "method": method});
            if params.as_object().is_some_and(|it| !it.is_empty())
                && let Some(object) = notification.as_object_mut()
            {
                object.insert("params".to_owned(), params);
            }
            return self.send_client(message::encode(&notification));
        }
        let wants = |wanted: &Value| match method {
            "notifications/tools/list_changed" => {
                wanted.get("toolsListChanged") == Some(&json!(true))
            }
            "notifications/prompts/list_changed" => {
                wanted.get("promptsListChanged") == Some(&json!(true))
            }
            "notifications/resources/list_changed" => {
                wanted.get("resourcesListChanged") == Some(&json!(true))
            }
            _ => wanted
                .get("resourceSubscriptions")
                .and_then(Value::as_array)
                .is_some_and(|uris| params.get("uri").is_some_and(|uri| uris.contains(uri))),
        };
        let listening = self.open.iter().filter(
            |(_, open)| matches!(&open.stage, Stage::Listening { wanted, .. } if wants(wanted)),
        );
        let listening: Vec<Id> = listening.map(|(id, _)| id.clone()).collect();
        for id in listening {
            let mut params = params.clone();
            if let Some(object) = params.as_object_mut() {
                object.insert("_meta".to_owned(), json!({META_SUBSCRIPTION: id.to_value()}));
            }
            self.send_client(message::encode(
                &json!({"jsonrpc": "2.0", "method": method, "params": params}),
            ));
        }
    }
}
