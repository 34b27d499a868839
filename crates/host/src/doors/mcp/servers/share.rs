//! How much is kept of one server: it may say of itself as much as it likes, and what is known of others must not suffer from it.

use std::collections::BTreeMap;
use std::iter;

use ::mcp::Pins;
use ::mcp::pins::Pin;
use serde_json::Value;

use super::{Seen, Servers};

/// Words of accepted definitions of one server that are kept, in bytes. Whatever is beyond that is known by its digest, so that
/// a change is found all the same.
const WORDS_BYTES_MAX: usize = 512 << 10;
/// All that is kept of what was accepted of one server, in bytes: those words, names and digests.
const PINNED_BYTES_MAX: usize = 2 << 20;
/// Definitions of one server that wait for a person, in bytes. What is beyond that is held, and not kept.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// What an entry takes beside name and words: a digest, and the signs of JSON.
const ENTRY_BYTES: usize = 128;

/// What is left of a server's share.
pub(super) struct Room {
    words: usize,
    pinned: usize,
    waiting: usize,
}

impl Servers {
    /// What is left of a server's share.
    pub(super) fn room(&self, server: &str) -> Room {
        let pins = iter::once(&self.pins).chain(self.offered.values().map(|it| &it.pins));
        let pinned = pins.filter_map(|it| it.servers.get(server)).flatten();
        let (mut words, mut entries) = (0, 0);
        for (name, pin) in pinned {
            words += bytes_kept(pin);
            entries += entry(name);
        }
        let held = iter::once(&self.held).chain(self.offered.values().map(|it| &it.held));
        let held = held.filter_map(|it| it.get(server)).flatten();
        let waiting: usize = held.map(|(name, it)| entry(name) + bytes(it)).sum();
        Room {
            words: WORDS_BYTES_MAX.saturating_sub(words),
            pinned: PINNED_BYTES_MAX.saturating_sub(words + entries),
            waiting: WAITING_BYTES_MAX.saturating_sub(waiting),
        }
    }

    /// Takes note that something is held of a server that found no room.
    pub(super) fn note_crowded(&mut self, server: &str, seen: &mut Seen) {
        self.held.retain(|_, it| !it.is_empty());
        if seen.left_out > 0 && self.crowded.insert(server.to_owned()) {
            (seen.is_new, seen.is_crowded) = (true, true);
        }
    }

    /// What is known of the definitions of one server alone, to try a list on.
    pub(in crate::doors::mcp) fn only(&self, server: &str) -> Self {
        let pins = |all: &Pins| Pins { servers: one(&all.servers, server) };
        let offered = self.offered.iter().map(|(list, it)| {
            (list.clone(), super::Offered { pins: pins(&it.pins), held: one(&it.held, server) })
        });
        Self {
            pins: pins(&self.pins),
            held: one(&self.held, server),
            offered: offered.collect(),
            crowded: self.crowded.get(server).cloned().into_iter().collect(),
            ..Self::default()
        }
    }
}

impl Room {
    /// Accepts a definition, with its words if there is room for them; says whether there was room for its digest.
    pub(super) fn pin(
        &mut self,
        pins: &mut Pins,
        server: &str,
        name: &str,
        definition: &Value,
    ) -> bool {
        let (entry, mut words) = (entry(name), bytes(definition));
        // The one that is replaced makes room.
        let old = pins.servers.get(server).and_then(|it| it.get(name));
        let (old_entry, old_words) = old.map_or((0, 0), |it| (entry, bytes_kept(it)));
        let (of_words, of_all) = (self.words + old_words, self.pinned + old_entry + old_words);
        if entry > of_all {
            return false;
        }
        if words > of_words || entry + words > of_all {
            words = 0;
            pins.accept_digest(server, name, definition);
        } else {
            pins.accept(server, name, definition);
        }
        self.words = of_words.saturating_sub(words);
        self.pinned = of_all.saturating_sub(entry + words);
        true
    }

    /// Holds a definition until a person has seen it; says whether it was not held before. One for which there is no room is held,
    /// too, and cannot be shown yet.
    pub(super) fn hold(
        &mut self,
        held: &mut BTreeMap<String, Value>,
        name: &str,
        definition: &Value,
        seen: &mut Seen,
    ) -> bool {
        seen.held.push(name.to_owned());
        let old = held.get(name);
        if old == Some(definition) {
            return false;
        }
        let room = self.waiting + old.map_or(0, |it| entry(name) + bytes(it));
        let taken = entry(name) + bytes(definition);
        if taken > room {
            seen.left_out += 1;
            return false;
        }
        self.waiting = room.saturating_sub(taken);
        held.insert(name.to_owned(), definition.clone());
        seen.is_new = true;
        true
    }
}

fn one<T: Clone>(all: &BTreeMap<String, T>, server: &str) -> BTreeMap<String, T> {
    all.get(server).map(|it| (server.to_owned(), it.clone())).into_iter().collect()
}

/// Of the words of a pin, as many as are kept.
fn bytes_kept(pin: &Pin) -> usize {
    if pin.definition.is_null() { 0 } else { bytes(&pin.definition) }
}

fn entry(name: &str) -> usize {
    ENTRY_BYTES + serde_json::to_string(name).map_or(usize::MAX >> 2, |it| it.len())
}

fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{ServersError, Shadows};
    use super::*;

    fn tool(name: &str, says: &str, length: usize) -> Value {
        let description = format!("{says} {}", "x".repeat(length));
        json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
    }

    #[test]
    fn a_server_that_says_much_of_itself_has_its_share_and_every_change_of_it_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let none = Shadows::default();
        let small = [tool("get", "Gets.", 10)];
        Servers::note(home, |it| it.see("notes", (&small, &none), true)).unwrap();
        // More than a share of words, and of what can wait.
        let list = |says: &str| -> Vec<Value> {
            (0..40).map(|it| tool(&format!("t{it}"), says, 60 << 10)).collect()
        };
        let first = list("Adds.");
        let seen = Servers::note(home, |it| it.see("big", (&first, &none), true)).unwrap();
        assert_eq!((seen.held.len(), seen.left_out), (0, 0));
        let known = Servers::of(home).unwrap();
        assert!(known.are_accepted("big", &first) && known.are_accepted("notes", &small));
        let kept = serde_json::to_vec(&known).unwrap().len();
        assert!((100 << 10..WORDS_BYTES_MAX + (64 << 10)).contains(&kept), "{kept}");
        // All of it changes: nothing of it is shown, what fits waits, and the rest when there is room again.
        let other = list("Sends.");
        let mut accepted = 0;
        for round in 0..3 {
            let tried = Servers::of(home).unwrap().only("big").see("big", (&other, &none), false);
            let seen = Servers::note(home, |it| it.see("big", (&other, &none), false)).unwrap();
            assert_eq!(
                (&seen.held, seen.left_out),
                (&tried.held, tried.left_out),
                "as it was tried"
            );
            assert_eq!((seen.held.len(), seen.is_crowded), (40 - accepted, seen.left_out > 0));
            let again = Servers::of(home).unwrap().only("big").see("big", (&other, &none), false);
            assert!(!again.is_new && again.held.len() == 40 - accepted, "written once");
            let shown = Servers::of(home).unwrap().held["big"].clone();
            assert!(shown.len() + seen.left_out == 40 - accepted && shown.len() > 5, "{round}");
            accepted += shown.len();
            Servers::change(home, |it| it.accept("big", &shown)).unwrap();
        }
        let known = Servers::of(home).unwrap();
        assert!(known.are_accepted("big", &other) && known.crowded.is_empty());
        assert!(known.are_accepted("notes", &small) && known.held.is_empty());
    }

    #[test]
    fn what_would_not_be_read_again_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let none = Shadows::default();
        let list = |name: &str| [tool(name, "Adds.", 1000)];
        let add = |server: &str, max: usize| {
            Servers::change_within(home, max, |it| it.see(server, (&list(server), &none), true))
        };
        add("one", 2000).unwrap();
        let full = add("two", 2000).unwrap_err();
        assert!(matches!(full, ServersError::Full { .. }), "{full}");
        let known = Servers::of(home).unwrap();
        assert!(known.are_accepted("one", &list("one")) && !known.is_known("two"));
        // What makes it no longer goes on.
        let forget = |it: &mut Servers| it.pins.forget("one");
        Servers::change_within(home, 10, forget).unwrap();
        add("two", 2000).unwrap();
    }
}
