//! Orders in pieces: the texts of a definition are read one after the other as well, and so is an order that lies in several.

use std::ops::Range;

use serde_json::Value;

use super::poison::{Sign, orders, score};
use super::walk::each_text;
use super::{Finding, SANITIZED, shown};
use crate::text::{Verdict, verdict};

/// How often what is left is read again: without a piece, others may come together.
const ROUNDS_MAX: usize = 3;
/// What a sign of an order in pieces says by itself, at least.
const WEIGHT_MIN: f64 = 0.3;

/// Orders that lay in several texts.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) score: f64,
    pub(super) findings: Vec<Finding>,
    /// How many texts were replaced.
    pub(super) count: usize,
    /// Are there still such orders?
    pub(super) is_left: bool,
}

/// Replaces every text that can be replaced and holds a piece of an order. What gives orders by itself is replaced already.
pub(super) fn clean(definition: &mut Value) -> Taken {
    let mut taken = Taken::default();
    for _ in 0..ROUNDS_MAX {
        let (spans, signs) = read(definition);
        if signs.is_empty() {
            return taken;
        }
        taken.score = taken.score.max(score(&signs));
        let mut spans = spans.iter();
        each_text(definition, |field, _| {
            let span = spans.next().filter(|_| field.is_free)?;
            let before = taken.findings.len();
            let touching = signs.iter().filter(|it| it.start < span.end && span.start < it.end);
            taken.findings.extend(touching.map(|it| Finding {
                path: shown(&field.path),
                rule: it.rule,
                category: it.category,
                start: it.start.saturating_sub(span.start),
                end: it.end.min(span.end) - span.start,
            }));
            let is_touched = taken.findings.len() > before;
            taken.count += usize::from(is_touched);
            is_touched.then_some(SANITIZED)
        });
    }
    taken.is_left = !read(definition).1.is_empty();
    taken
}

/// Returns where each text stands among all that are read together, and the signs that begin in one and end in another, if these are
/// beyond doubt. Less says nothing: what stands side by side in a schema need not belong together.
fn read(definition: &mut Value) -> (Vec<Range<usize>>, Vec<Sign>) {
    let (mut joined, mut spans) = (String::new(), Vec::new());
    each_text(definition, |field, text| {
        let start = joined.len();
        if field.is_free {
            joined.push_str(text);
        }
        spans.push(start..joined.len());
        if field.is_free {
            joined.push(' ');
        }
        None
    });
    if spans.iter().filter(|it| !it.is_empty()).nth(1).is_none() {
        return (spans, Vec::new());
    }
    let mut signs = orders(&joined);
    signs.retain(|it| {
        let past = spans.partition_point(|span| span.start < it.end);
        let last = past.checked_sub(1).and_then(|at| spans.get(at));
        it.weight >= WEIGHT_MIN && last.is_some_and(|span| it.start < span.start)
    });
    if verdict(score(&signs)) < Verdict::Injection {
        signs.clear();
    }
    (spans, signs)
}
