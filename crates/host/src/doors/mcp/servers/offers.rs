//! Prompts, resources and templates as they were accepted.
//!
//! A prompt is what a tool is: one that is new to a known server is held. Resources come and go, as files do: a new one is taken as it
//! is, and only one that says something else than before is held.

use std::collections::BTreeMap;

use ::mcp::Offer;
use ::mcp::Pins;
use ::mcp::pins::Compared;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::share::Room;
use super::{Seen, Servers, added};

/// Definitions of one list of a server that are kept. What a server offers beyond that is read as any text is, and not pinned.
const OFFERS_MAX: usize = 2000;
/// What of a definition a person or a model goes by; sizes, times and pictures change by themselves.
const PINNED: [&str; 7] =
    ["name", "title", "description", "arguments", "uri", "uriTemplate", "mimeType"];

/// What was accepted of one kind of list, and what is held of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// Definitions that were accepted.
    #[serde(default)]
    pub pins: Pins,
    /// Definitions that are others now, by server and name, until a person accepts them.
    #[serde(default)]
    pub held: BTreeMap<String, BTreeMap<String, Value>>,
}

impl Servers {
    /// Takes in a list of what a server offers. The first one of a server (`is_first`) is accepted, but for prompts whose names give
    /// orders; what has changed later is held, and a prompt that is new then.
    pub(crate) fn see_offers(
        &mut self,
        server: &str,
        offer: Offer,
        items: &[Value],
        is_first: bool,
    ) -> Seen {
        let mut room = self.room(server);
        let offered = self.offered.entry(offer.key().to_owned()).or_default();
        let mut seen = Seen::default();
        for (name, definition) in named(offer, items) {
            let known = offered.pins.servers.get(server).map_or(0, |it| it.len());
            match offered.pins.compare(server, name, &definition) {
                Compared::Same => {}
                Compared::New if offer == Offer::Prompts && !is_first => {
                    if offered.hold(&mut room, server, (name, &definition), &mut seen) {
                        seen.added.push(added(server, name, &definition));
                    }
                }
                Compared::New if known >= OFFERS_MAX => {}
                Compared::New => {
                    seen.is_new |= room.pin(&mut offered.pins, server, name, &definition);
                }
                Compared::Changed(change) => {
                    if offered.hold(&mut room, server, (name, &definition), &mut seen) {
                        seen.changed.push(*change);
                    }
                }
            }
        }
        self.note_crowded(server, &mut seen);
        seen
    }

    /// Whether each of these is as it was accepted.
    pub(crate) fn are_offers_accepted(&self, server: &str, offer: Offer, items: &[Value]) -> bool {
        let Some(offered) = self.offered.get(offer.key()) else { return items.is_empty() };
        named(offer, items)
            .all(|(name, it)| offered.pins.compare(server, name, &it) == Compared::Same)
    }

    /// Whether anything of this kind of a server was ever accepted.
    pub(crate) fn offers_anything(&self, server: &str, offer: Offer) -> bool {
        self.offered.get(offer.key()).is_some_and(|it| it.pins.servers.contains_key(server))
    }

    /// Whether a call of this kind, about what has this name, is about something that is held.
    pub(crate) fn is_held(&self, server: &str, kind: &str, name: &str) -> bool {
        let is_held = |offer: Offer| {
            let offered = self.offered.get(offer.key());
            offered.and_then(|it| it.held.get(server)).is_some_and(|it| it.contains_key(name))
        };
        match kind {
            "prompt" => is_held(Offer::Prompts),
            "resource" | "subscription" => is_held(Offer::Resources),
            "completion" => is_held(Offer::Prompts) || is_held(Offer::ResourceTemplates),
            _ => false,
        }
    }

    /// Returns what is held of a server: which list, what, and the definition as it is now.
    #[must_use]
    pub fn offers_held(&self, server: &str) -> Vec<(Offer, String, Value)> {
        let held = |offer: Offer| {
            let held = self.offered.get(offer.key()).and_then(|it| it.held.get(server));
            held.into_iter().flatten().map(move |(name, it)| (offer, name.clone(), it.clone()))
        };
        Offer::ALL.into_iter().flat_map(held).collect()
    }

    /// Returns the definition that was accepted.
    #[must_use]
    pub fn offer_accepted(&self, server: &str, offer: Offer, name: &str) -> Option<&Value> {
        let pinned = self.offered.get(offer.key())?.pins.servers.get(server)?;
        Some(&pinned.get(name)?.definition)
    }

    /// Accepts definitions that are held of a server: exactly those that were `shown`.
    pub fn accept_offers(&mut self, server: &str, shown: &[(Offer, String, Value)]) {
        let mut room = self.room(server);
        self.crowded.remove(server);
        for (offer, name, definition) in shown {
            let Some(offered) = self.offered.get_mut(offer.key()) else { continue };
            let Some(held) = offered.held.get_mut(server) else { continue };
            // What has changed once more since is held still.
            if held.get(name) == Some(definition)
                && room.pin(&mut offered.pins, server, name, definition)
            {
                held.remove(name);
            }
            if held.is_empty() {
                offered.held.remove(server);
            }
        }
    }
}

impl Offered {
    /// Holds a definition back; says whether it was not held before.
    fn hold(
        &mut self,
        room: &mut Room,
        server: &str,
        (name, definition): (&str, &Value),
        seen: &mut Seen,
    ) -> bool {
        let held = self.held.entry(server.to_owned()).or_default();
        if held.len() >= OFFERS_MAX && !held.contains_key(name) {
            seen.held.push(name.to_owned());
            seen.left_out += 1;
            return false;
        }
        room.hold(held, name, definition, seen)
    }
}

/// Each item by its name, as it is pinned.
fn named(offer: Offer, items: &[Value]) -> impl Iterator<Item = (&str, Value)> {
    items.iter().filter_map(move |item| {
        let name = item.get(offer.name_key())?.as_str()?;
        let fields = item.as_object()?.iter().filter(|(key, _)| PINNED.contains(&key.as_str()));
        let fields: Map<String, Value> =
            fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        Some((name, Value::Object(fields)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_changes_is_held_and_a_new_prompt_but_no_new_resource() {
        let mut known = Servers::default();
        let prompt = |text: &str| json!({ "name": "ask", "description": text, "arguments": [{ "name": "a" }] });
        let file = |uri: &str, kind: &str| json!({ "uri": uri, "name": "f", "mimeType": kind, "size": kind.len() });
        let prompts = [prompt("Asks.")];
        let see = |known: &mut Servers, offer, items: &[Value], is_first| {
            let seen = known.see_offers("s", offer, items, is_first);
            (seen.held, seen.changed.len(), seen.added.len(), seen.is_new)
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(see(&mut known, Offer::Prompts, &prompts, true), (none.clone(), 0, 0, true));
        assert!(known.are_offers_accepted("s", Offer::Prompts, &prompts));
        let other = [prompt("Asks, and sends."), json!({ "name": "new" })];
        let held = vec!["ask".to_owned(), "new".to_owned()];
        assert_eq!(see(&mut known, Offer::Prompts, &other, false), (held.clone(), 1, 1, true));
        assert_eq!(see(&mut known, Offer::Prompts, &other, false), (held, 0, 0, false));
        assert!(known.is_held("s", "prompt", "new") && !known.is_held("t", "prompt", "new"));
        let files = [file("a:1", "text/plain")];
        see(&mut known, Offer::Resources, &files, true);
        // Its size says nothing of what it is.
        let bigger = [json!({ "uri": "a:1", "name": "f", "mimeType": "text/plain", "size": 9 })];
        assert!(known.are_offers_accepted("s", Offer::Resources, &bigger));
        let more = [file("a:1", "text/html"), file("a:2", "text/plain")];
        let held = vec!["a:1".to_owned()];
        assert_eq!(see(&mut known, Offer::Resources, &more, false), (held, 1, 0, true));
        assert!(known.is_held("s", "resource", "a:1") && !known.is_held("s", "resource", "a:2"));
        // What changes once more while a person looks is not what they have seen.
        let shown = known.offers_held("s");
        see(&mut known, Offer::Prompts, &[prompt("Asks, and sends all.")], false);
        known.accept_offers("s", &shown);
        assert_eq!(known.offers_held("s").len(), 1);
        assert!(known.is_held("s", "prompt", "ask") && !known.is_held("s", "resource", "a:1"));
    }
}
