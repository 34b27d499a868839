//! The rows in memory, with an index of their words. What the log says, put in order.

use std::collections::{BTreeMap, HashMap};

use aegx::Digest;
use model::ipc::{MemoryKind, Uuid};
use model::{TaintTag, UserId};
use monitor::taint::worse;

use super::event::Event;
use super::numbers::{Numbers, newest_of};
use super::words::{Wanted, wanted, words};
use crate::content::Fingerprint;
use crate::memory::MemoryRow;
use crate::rank::{self, LOOKED_AT_MAX};
use crate::scope::is_beneath;

/// Everybody's rows.
#[derive(Default)]
pub(super) struct Table {
    users: HashMap<UserId, Rows>,
    /// Whose a row is, and its number there.
    places: HashMap<Uuid, (UserId, i64)>,
    next: i64,
}

/// The rows of one user.
#[derive(Default)]
struct Rows {
    rows: BTreeMap<i64, Kept>,
    words: BTreeMap<String, Numbers>,
    scopes: HashMap<String, u32>,
    /// What is in each scope, by the scope's number.
    in_scope: Vec<Numbers>,
    labels: HashMap<Digest, TaintTag>,
    same: HashMap<(Digest, String, &'static str), Uuid>,
}

struct Kept {
    row: MemoryRow,
    digests: [Digest; 2],
    scope: u32,
}

impl Table {
    pub(super) fn apply(&mut self, event: Event) {
        match event {
            Event::Written(row) => self.insert(*row),
            Event::Deleted { id } => self.delete(id),
            Event::Labelled { user, content, tag } => {
                let labels = &mut self.users.entry(user).or_default().labels;
                let worst = worse(labels.get(&content), Some(&tag)).unwrap_or(tag);
                labels.insert(content, worst);
            }
            Event::Cleared { user, contents } => {
                let labels = &mut self.users.entry(user).or_default().labels;
                contents.iter().for_each(|it| drop(labels.remove(it)));
            }
        }
    }

    fn insert(&mut self, row: MemoryRow) {
        self.next += 1;
        let n = self.next;
        self.places.insert(row.id, (row.user.clone(), n));
        let rows = self.users.entry(row.user.clone()).or_default();
        for word in words(&row.content) {
            rows.words.entry(word).or_default().push(n);
        }
        let count = u32::try_from(rows.scopes.len()).unwrap_or(u32::MAX);
        let scope = *rows.scopes.entry(row.scope.clone()).or_insert(count);
        if scope == count {
            rows.in_scope.push(Numbers::default());
        }
        if let Some(numbers) = rows.in_scope.get_mut(scope as usize) {
            numbers.push(n);
        }
        let digests = Fingerprint::of(row.content.as_bytes()).both();
        rows.same.insert((digests[0], row.scope.clone(), row.kind.as_str()), row.id);
        rows.rows.insert(n, Kept { row, digests, scope });
    }

    fn delete(&mut self, id: Uuid) {
        let Some((user, n)) = self.places.remove(&id) else { return };
        let Some(rows) = self.users.get_mut(&user) else { return };
        let Some(Kept { row, digests, scope }) = rows.rows.remove(&n) else { return };
        if let Some(numbers) = rows.in_scope.get_mut(scope as usize) {
            numbers.remove(n);
        }
        for word in words(&row.content) {
            if let Some(numbers) = rows.words.get_mut(&word) {
                numbers.remove(n);
                if numbers.len() == 0 {
                    rows.words.remove(&word);
                }
            }
        }
        rows.same.remove(&(digests[0], row.scope, row.kind.as_str()));
    }

    /// How many rows a user has.
    pub(super) fn count(&self, user: &UserId) -> usize {
        self.users.get(user).map_or(0, |it| it.rows.len())
    }

    /// The user's row with the same bytes, scope and kind.
    pub(super) fn same(
        &self,
        user: &UserId,
        exact: Digest,
        scope: &str,
        kind: MemoryKind,
    ) -> Option<Uuid> {
        self.users.get(user)?.same.get(&(exact, scope.to_owned(), kind.as_str())).copied()
    }

    /// The worst label of content of a user.
    pub(super) fn label(&self, user: &UserId, contents: &[Digest]) -> Option<TaintTag> {
        let labels = &self.users.get(user)?.labels;
        contents.iter().fold(None, |found, it| worse(found.as_ref(), labels.get(it)))
    }

    /// A row, whoever it belongs to, with the label of its content.
    pub(super) fn row(&self, id: Uuid) -> Option<MemoryRow> {
        let (user, n) = self.places.get(&id)?;
        self.users.get(user)?.shown(*n)
    }

    /// The newest rows of a scope and all beneath it.
    pub(super) fn newest(&self, user: &UserId, scope: &str, limit: usize) -> Vec<MemoryRow> {
        let Some(rows) = self.users.get(user) else { return Vec::new() };
        let newest = self.numbers(user, scope, limit);
        newest.into_iter().filter_map(|n| rows.shown(n)).collect()
    }

    /// The numbers of these.
    pub(super) fn numbers(&self, user: &UserId, scope: &str, limit: usize) -> Vec<i64> {
        let Some(rows) = self.users.get(user) else { return Vec::new() };
        let within = rows.within(scope);
        let lists = rows.in_scope.iter().zip(&within).filter(|(_, within)| **within);
        newest_of(lists.map(|(it, _)| it), limit, |_| true)
    }

    /// Rows of a scope and all beneath it with any word of the query, best first.
    pub(super) fn best(
        &self,
        user: &UserId,
        scope: &str,
        query: &str,
        limit: usize,
    ) -> Vec<MemoryRow> {
        let Some(rows) = self.users.get(user) else { return Vec::new() };
        let within = rows.within(scope);
        let found: Vec<Vec<i64>> = wanted(query).iter().map(|it| rows.with(it, &within)).collect();
        let count = i64::try_from(rows.rows.len()).unwrap_or(i64::MAX);
        let best = rank::best(&found, count, limit);
        best.into_iter().filter_map(|n| rows.shown(n)).collect()
    }

    /// Rows of a user after a number, oldest first.
    pub(super) fn after(&self, user: &UserId, after: i64, limit: usize) -> Vec<(i64, MemoryRow)> {
        let Some(rows) = self.users.get(user) else { return Vec::new() };
        let later = rows.rows.range(after.saturating_add(1)..).take(limit);
        later.filter_map(|(n, _)| Some((*n, rows.shown(*n)?))).collect()
    }

    /// All rows of a user.
    pub(super) fn ids(&self, user: &UserId) -> Vec<Uuid> {
        self.users
            .get(user)
            .map_or_else(Vec::new, |it| it.rows.values().map(|it| it.row.id).collect())
    }

    /// The newest tainted rows of everybody.
    pub(super) fn tainted(&self, limit: usize) -> Vec<MemoryRow> {
        let all = self.users.values().flat_map(|rows| {
            rows.rows
                .keys()
                .filter_map(|n| Some((*n, rows.shown(*n).filter(|it| it.tag.is_some())?)))
        });
        let mut all: Vec<(i64, MemoryRow)> = all.collect();
        all.sort_unstable_by_key(|(n, _)| std::cmp::Reverse(*n));
        all.into_iter().take(limit).map(|(_, row)| row).collect()
    }

    /// What makes a table like this one, in order.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut labels = Vec::new();
        let mut rows = Vec::new();
        for (user, of) in &self.users {
            labels.extend(of.labels.iter().map(|(content, tag)| Event::Labelled {
                user: user.clone(),
                content: *content,
                tag: tag.clone(),
            }));
            rows.extend(of.rows.iter().map(|(n, it)| (*n, it.row.clone())));
        }
        rows.sort_unstable_by_key(|(n, _)| *n);
        // Labels first: no part of the log has a row without its label.
        labels.extend(rows.into_iter().map(|(_, row)| Event::Written(Box::new(row))));
        labels
    }
}

impl Rows {
    fn shown(&self, n: i64) -> Option<MemoryRow> {
        let kept = self.rows.get(&n)?;
        let known =
            kept.digests.iter().fold(None, |found, it| worse(found.as_ref(), self.labels.get(it)));
        Some(MemoryRow { tag: known, ..kept.row.clone() })
    }

    /// Which scopes lie beneath `root`, by their number.
    fn within(&self, root: &str) -> Vec<bool> {
        let mut within = vec![false; self.scopes.len()];
        for (scope, number) in &self.scopes {
            if let Some(place) = within.get_mut(*number as usize) {
                *place = is_beneath(scope, root);
            }
        }
        within
    }

    /// The newest rows with one word of a query.
    fn with(&self, wanted: &Wanted, within: &[bool]) -> Vec<i64> {
        let there = |n: &i64| self.rows.get(n).is_some_and(|it| has(within, it.scope));
        let mut lists: Vec<&Numbers> = Vec::new();
        for word in &wanted.whole {
            match self.words.get(word) {
                Some(numbers) => lists.push(numbers),
                None => return Vec::new(),
            }
        }
        let fits = |n: &i64| lists.iter().all(|it| it.contains(*n)) && there(n);
        if let Some(beginning) = &wanted.beginning {
            // By the ends of the range, and not word by word: many words may begin alike.
            let end = format!("{beginning}{}", char::MAX);
            let like = self.words.range(beginning.clone()..end).map(|(_, it)| it);
            return newest_of(like, LOOKED_AT_MAX, fits);
        }
        let Some(shortest) = lists.iter().min_by_key(|it| it.len()) else { return Vec::new() };
        shortest.rev().filter(fits).take(LOOKED_AT_MAX).collect()
    }
}

fn has(within: &[bool], scope: u32) -> bool {
    within.get(scope as usize).copied().unwrap_or(false)
}
