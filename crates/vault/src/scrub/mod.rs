//! Taking values of secrets out of texts, in whatever common way they are written.
//!
//! INVARIANT (SecretsDoNotPrint): what goes back to an agent and onto the record was scrubbed of every value that
//! is held, in all its versions.
//!
//! A text is looked at as it stands, with its escapes, percent signs and entities undone, and without what
//! is only there to break lines or to be invisible. In each of these the value is looked for as it is, in base64
//! once and twice, in base32, in hex, and backwards. What is not found: a value in pieces, encrypted, or packed.
//!
//! INVARIANT (NoOracle): what can be guessed is not looked for (see [`crate::guess`]): the place where it is taken out of
//! a text of all numbers would show it. Texts with many values that are almost a secret are counted by who asks.
//!
//! Pieces are not looked for on purpose: who sees that the beginning of a secret is taken out learns it letter by
//! letter, by trying. Whoever cuts a text has it scrubbed first (`Scrubs` of the permit).

mod coded;
mod near;
mod needles;
mod shapes;
mod view;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, RwLock};

use monitor::{HeldSecret, Scrubber};
use scan::net::Domains;

use crate::contents::Contents;
use crate::secret::Secret;
use needles::{Found, Needles};
use shapes::Shapes;
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
    /// The forms of those that can be guessed, and are not looked for.
    shapes: Shapes,
}

/// Undoes an encoding; none if there is nothing of it.
type Undo = fn(&View<'_>) -> Option<View<'static>>;

/// How often backslashes are undone: answers are JSON, and often hold JSON, in which there is JSON.
const UNESCAPED_MAX: usize = 3;

/// What is undone behind that, one after the other, because it is also put on one after the other.
const UNDONE: [Undo; 4] = [
    |it| it.narrowed(),
    |it| it.percent_decoded(),
    |it| it.without_entities(),
    |it| it.percent_decoded(),
];

/// What is undone by itself as well: the signs of the others may be part of a value.
const ALONE: [Undo; 4] =
    [|it| it.unfolded(), |it| it.narrowed(), |it| it.percent_decoded(), |it| it.without_entities()];

/// What opens the vault, where it is named.
const KEY_OF_VAULT: &str = "key of the vault";

/// What was seen in a text.
pub(crate) struct Looked {
    known: Arc<Known>,
    found: Found,
    shaped: Vec<(usize, u64)>,
}

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
        // INVARIANT (NoOracle)
        let (guessable, looked_for): (Vec<_>, Vec<_>) =
            values.iter().cloned().partition(|(_, it)| it.is_guessable());
        let (needles, shapes) = (Needles::new(&looked_for), Shapes::new(&guessable));
        let known = Arc::new(Known { secrets, values, needles, shapes });
        match self.known.write() {
            Ok(mut place) => *place = known,
            Err(poisoned) => *poisoned.into_inner() = known,
        }
    }

    /// Looks a text through.
    pub(crate) fn look(&self, text: &str) -> Looked {
        let known = self.known();
        let (found, shaped) = (known.find(text), known.shapes.find(text));
        Looked { known, found, shaped }
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
        let found = known.find(text);
        known.without(found.hits, text, part)
    }

    fn held(&self, text: &str) -> Vec<HeldSecret> {
        let known = self.known();
        let found = known.find(text);
        known.held(&found.hits)
    }

    fn longest(&self) -> usize {
        self.known().values.iter().map(|(_, it)| it.plain().len()).max().unwrap_or_default()
    }
}

impl Looked {
    /// A part of the text that was looked through, without secrets; none if there are none in it.
    pub(crate) fn without(self, text: &str, part: Range<usize>) -> Option<String> {
        self.known.without(self.found.hits, text, part)
    }

    /// The secrets that are in the text.
    pub(crate) fn held(&self) -> Vec<HeldSecret> {
        self.known.held(&self.found.hits)
    }

    /// The names of secrets that are in the text.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.found.hits.iter().filter_map(|it| self.known.name(it.secret))
    }

    /// What is almost a secret: the secret's name, and a number for each that is like no other.
    pub(crate) fn near_misses(&self) -> impl Iterator<Item = (&str, u64)> {
        self.found.near.iter().filter_map(|(at, what)| Some((self.known.name(*at)?, *what)))
    }

    /// What has the form of a secret that can be guessed, likewise.
    pub(crate) fn shaped(&self) -> impl Iterator<Item = (&str, u64)> {
        self.shaped.iter().filter_map(|(at, what)| Some((self.known.name(*at)?, *what)))
    }
}

impl Known {
    fn name(&self, place: usize) -> Option<&str> {
        self.secrets.get(place).map(|it| it.0.as_str())
    }

    fn without(&self, hits: Vec<Hit>, text: &str, part: Range<usize>) -> Option<String> {
        let mut hits = merged(text, hits);
        hits.retain(|it| it.at.start < part.end && part.start < it.at.end);
        if hits.is_empty() {
            return None;
        }
        let mut clean = String::with_capacity(part.len());
        let mut end = part.start;
        for hit in hits {
            clean.push_str(text.get(end..hit.at.start.max(end)).unwrap_or_default());
            clean.push_str("[secret:");
            clean.push_str(self.name(hit.secret).unwrap_or_default());
            clean.push(']');
            end = hit.at.end;
        }
        clean.push_str(text.get(end..part.end.max(end)).unwrap_or_default());
        Some(clean)
    }

    fn held(&self, hits: &[Hit]) -> Vec<HeldSecret> {
        let mut places: Vec<usize> = hits.iter().map(|it| it.secret).collect();
        places.sort_unstable();
        places.dedup();
        let secrets = places.into_iter().filter_map(|it| self.secrets.get(it));
        secrets
            .map(|(name, hosts)| HeldSecret { name: name.clone(), hosts: hosts.clone() })
            .collect()
    }

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
    fn find(&self, text: &str) -> Found {
        let mut found = Found::default();
        let Some(needles) = &self.needles else { return found };
        let look = |view: &View<'_>, found: &mut Found| {
            needles.find(view, found);
            for view in ALONE.iter().filter_map(|undo| undo(view)) {
                needles.find(&view, found);
            }
        };
        let whole = View::of(text);
        look(&whole, &mut found);
        needles.find_near_in_codes(&whole, &mut found);
        let mut last = whole;
        for _ in 0..UNESCAPED_MAX {
            let Some(view) = last.unescaped() else { break };
            look(&view, &mut found);
            last = view;
        }
        for undo in UNDONE {
            if let Some(view) = undo(&last) {
                needles.find(&view, &mut found);
                last = view;
            }
        }
        if let Some(view) = last.squeezed() {
            needles.find(&view, &mut found);
            last = view;
        }
        needles.find_near_in_codes(&last, &mut found);
        if let Some(view) = last.without_separators() {
            needles.find_hex(&view, &mut found);
            needles.find_near_in_codes(&view, &mut found);
        }
        found
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
