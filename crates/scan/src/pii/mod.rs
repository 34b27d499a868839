//! Personal data in text: addresses of mail and of machines, numbers of phones, cards, accounts, wallets and documents, dates of
//! birth.
//!
//! A number counts by its check digits where it has any, and by words nearby where they say too little. Forms are data
//! (`rules/pii`). A finding has no value in it: where it stands is enough to take it out.

mod account;
mod checks;
mod confidence;
mod context;
mod date;
mod mail;
mod national;
mod net;
mod numbers;
mod phone;
mod span;
mod wallet;

use std::borrow::Cow;

pub use confidence::Confidence;
use context::Context;
use span::{Outline, Span};

use crate::allow::Allowed;

/// Personal data and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Personal {
    /// The id of the rule that found it: stable, in records.
    pub rule: &'static str,
    /// What kind of data it is, as it is shown in its place.
    pub kind: &'static str,
    /// How much it is to be believed.
    pub confidence: Confidence,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Finds the personal data of `text`, all of it. Linear in the length of the text.
#[must_use]
pub fn find(text: &str) -> Vec<Personal> {
    find_except(text, &Allowed::default())
}

/// Finds the personal data of `text` that is not allowed.
#[must_use]
pub fn find_except(text: &str, allowed: &Allowed) -> Vec<Personal> {
    let mut all = Vec::new();
    mail::find(text, &mut all);
    net::find(text, &mut all);
    wallet::find(text, &mut all);
    if span::next_digit(text.as_bytes(), 0).is_some() {
        let context = Context::new(text);
        span::spans(text).for_each(|it| numbers_of(&it, &context, &mut all));
        date::find(&context, &mut all);
    }
    numbers::passport_line(text, &mut all);
    all.retain(|it| {
        !allowed.permits(it.rule, text.as_bytes().get(it.start..it.end).unwrap_or_default())
    });
    merged(all)
}

/// Adds the numbers of a run: accounts, numbers of people and firms, and one telephone number.
fn numbers_of(span: &Span, context: &Context<'_>, all: &mut Vec<Personal>) {
    let mut has_phone = false;
    for candidate in span.candidates(context, may_be_number) {
        if candidate.is_part_of_more() {
            continue;
        }
        all.extend(account::find(&candidate));
        all.extend(numbers::find(&candidate));
        if !has_phone && let Some(phone) = phone::find(&candidate) {
            all.push(phone);
            has_phone = true;
        }
    }
}

/// Tells whether a part of a run can be a number of any kind, by its outline.
fn may_be_number(outline: Outline) -> bool {
    let is_length =
        account::CARD_DIGITS.contains(&outline.chars) || phone::DIGITS.contains(&outline.chars);
    let may_be_iban = outline.like_iban && account::IBAN_CHARS.contains(&outline.chars);
    (outline.letters == 0 && is_length) || may_be_iban || numbers::may_fit(outline)
}

/// Returns `text` with personal data replaced by its kind.
#[must_use]
pub fn redacted<'a>(text: &'a str, found: &[Personal]) -> Cow<'a, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut all, mut at) = (String::with_capacity(text.len()), 0);
    for it in found {
        all.push_str(text.get(at..it.start.max(at)).unwrap_or_default());
        all.push_str("[PII:");
        all.push_str(it.kind);
        all.push(']');
        at = it.end.max(at);
    }
    all.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(all)
}

/// Of findings that overlap, the longest stays; of equal ones the first, which is the surer kind.
fn merged(mut all: Vec<Personal>) -> Vec<Personal> {
    all.sort_by_key(|it| (it.start, usize::MAX - it.end));
    let mut kept: Vec<Personal> = Vec::new();
    for it in all {
        match kept.last_mut() {
            Some(last) if it.start < last.end => {
                if it.end - it.start > last.end - last.start {
                    *last = it;
                }
            }
            Some(_) | None => kept.push(it),
        }
    }
    kept
}
