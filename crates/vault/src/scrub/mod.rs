//! Taking values of secrets out of texts, in whatever common way they are written.
//!
//! INVARIANT (SecretsDoNotPrint): what goes back to an agent and onto the record was scrubbed of every value that
//! is held, in all its versions.
//!
//! A text is looked at as it stands, with its escapes, percent signs and entities undone, and without what
//! is only there to break lines or to be invisible. In each of these the value is looked for as it is, in base64
//! once and twice, in base32, in hex, and backwards. What is not found: a value in pieces, encrypted, or packed.
//!
//! Pieces are not looked for on purpose: who sees that the beginning of a secret is taken out learns it letter by
//! letter, by trying. Whoever cuts a text has it scrubbed first (`Scrubs` of the permit).

mod needles;
mod view;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, RwLock};

use monitor::{HeldSecret, Scrubber};
use scan::net::Domains;

use crate::contents::Contents;
use crate::secret::Secret;
use needles::Needles;
use view::View;

/// Scrubs texts of what a vault holds. What it holds can change while it is used.
#[derive(Default)]
pub struct Scrub {
    known: RwLock<Arc<Known>>,
}

/// How many values that were taken out of the vault are known until the process ends.
const RETIRED_MAX: usize = 1000;

#[derive(Default)]
struct Known {
    /// Names and hosts; needles name them by their place.
    secrets: Vec<(String, Domains)>,
    /// All values by their place.
    values: Vec<(usize, Arc<Secret>)>,
    needles: Option<Needles>,
}

/// What is undone, one after the other. Answers are JSON, and often hold JSON, in which there is JSON.
const UNDONE: [fn(&View<'_>) -> Option<View<'static>>; 7] = [
    |it| it.unescaped(),
    |it| it.unescaped(),
    |it| it.unescaped(),
    |it| it.narrowed(),
    |it| it.percent_decoded(),
    |it| it.without_entities(),
    |it| it.percent_decoded(),
];

/// What opens the vault, where it is named.
const KEY_OF_VAULT: &str = "key of the vault";

/// A value in a text.
struct Hit {
    at: Range<usize>,
    secret: usize,
}

impl Scrub {
    /// Knows what `contents` hold from now on, all versions of it, and `keys`, which open them. What it knew before
    /// it knows on: a value that was just removed may be on its way back to us.
    pub fn learn(&self, contents: &Contents, keys: &[Arc<Secret>]) {
        let mut secrets = Vec::new();
        let mut values = Vec::new();
        for (name, entry) in contents.iter() {
            let place = secrets.len();
            secrets.push((name.as_str().to_owned(), entry.bound().clone()));
            values.extend(entry.versions().iter().map(|it| (place, Arc::clone(&it.secret))));
        }
        values.extend(keys.iter().map(|it| (secrets.len(), Arc::clone(it))));
        secrets.push((KEY_OF_VAULT.to_owned(), Domains::default()));
        self.known().retire_into(&mut secrets, &mut values);
        self.know(secrets, values);
    }

    /// Knows one more, which is for no host.
    pub fn learn_one(&self, name: &str, secret: Arc<Secret>) {
        let known = self.known();
        if known.values.iter().any(|(_, it)| it.plain() == secret.plain()) {
            return;
        }
        let (mut secrets, mut values) = (known.secrets.clone(), known.values.clone());
        values.push((secrets.len(), secret));
        secrets.push((name.to_owned(), Domains::default()));
        self.know(secrets, values);
    }

    fn know(&self, secrets: Vec<(String, Domains)>, values: Vec<(usize, Arc<Secret>)>) {
        let needles = Needles::new(&values);
        let known = Arc::new(Known { secrets, values, needles });
        match self.known.write() {
            Ok(mut place) => *place = known,
            Err(poisoned) => *poisoned.into_inner() = known,
        }
    }

    fn known(&self) -> Arc<Known> {
        match self.known.read() {
            Ok(known) => Arc::clone(&known),
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }
}

impl Scrubber for Scrub {
    fn scrub_part(&self, text: &str, part: Range<usize>) -> Option<String> {
        let known = self.known();
        let mut hits = merged(text, known.all_hits(text));
        hits.retain(|it| it.at.start < part.end && part.start < it.at.end);
        if hits.is_empty() {
            return None;
        }
        let mut clean = String::with_capacity(part.len());
        let mut end = part.start;
        for hit in hits {
            clean.push_str(text.get(end..hit.at.start.max(end)).unwrap_or_default());
            clean.push_str("[secret:");
            clean.push_str(known.secrets.get(hit.secret).map_or("", |it| it.0.as_str()));
            clean.push(']');
            end = hit.at.end;
        }
        clean.push_str(text.get(end..part.end.max(end)).unwrap_or_default());
        Some(clean)
    }

    fn held(&self, text: &str) -> Vec<HeldSecret> {
        let known = self.known();
        let mut places: Vec<usize> = known.all_hits(text).iter().map(|it| it.secret).collect();
        places.sort_unstable();
        places.dedup();
        let secrets = places.into_iter().filter_map(|it| known.secrets.get(it));
        secrets
            .map(|(name, hosts)| HeldSecret { name: name.clone(), hosts: hosts.clone() })
            .collect()
    }
}

impl Known {
    /// Adds what is known here and there no more. It is for no host.
    fn retire_into(
        &self,
        secrets: &mut Vec<(String, Domains)>,
        values: &mut Vec<(usize, Arc<Secret>)>,
    ) {
        let kept: HashSet<&str> = values.iter().map(|(_, it)| it.plain()).collect();
        let gone = self.values.iter().rev().filter(|(_, it)| !kept.contains(it.plain()));
        let gone: Vec<_> = gone.take(RETIRED_MAX).cloned().collect();
        drop(kept);
        for (place, secret) in gone.into_iter().rev() {
            let name = self.secrets.get(place).map_or("", |it| it.0.as_str());
            values.push((secrets.len(), secret));
            secrets.push((name.to_owned(), Domains::default()));
        }
    }

    /// Where values stand in a text, in any order.
    fn all_hits(&self, text: &str) -> Vec<Hit> {
        let Some(needles) = &self.needles else { return Vec::new() };
        let mut hits = Vec::new();
        let whole = View::of(text);
        needles.find(&whole, &mut hits);
        // By itself: elsewhere the sign may be part of a value.
        if let Some(view) = whole.unfolded() {
            needles.find(&view, &mut hits);
        }
        // Undone one after the other, because they are also put on one after the other.
        let mut last = whole;
        for undo in UNDONE {
            if let Some(view) = undo(&last) {
                needles.find(&view, &mut hits);
                last = view;
            }
        }
        if let Some(view) = last.squeezed() {
            needles.find(&view, &mut hits);
            last = view;
        }
        if let Some(view) = last.without_separators() {
            needles.find_hex(&view, &mut hits);
        }
        hits
    }
}

/// In order, joined where they overlap, at the borders of characters.
fn merged(text: &str, mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|it| (it.at.start, std::cmp::Reverse(it.at.end)));
    let mut all: Vec<Hit> = Vec::with_capacity(hits.len());
    for mut hit in hits {
        hit.at = text.floor_char_boundary(hit.at.start)..text.ceil_char_boundary(hit.at.end);
        match all.last_mut() {
            Some(last) if hit.at.start < last.at.end => last.at.end = last.at.end.max(hit.at.end),
            Some(_) | None => all.push(hit),
        }
    }
    all
}

#[cfg(test)]
mod tests;
