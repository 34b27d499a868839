//! Personal data in text: addresses of mail and of machines, numbers of phones, cards, accounts, wallets and documents, dates of
//! birth.
//!
//! A number counts by its check digits where it has any, and by words nearby where they say too little. Forms are data
//! (`rules/pii`). A finding has no value in it: where it stands is enough to take it out.

mod account;
mod checks;
mod date;
mod mail;
mod national;
mod net;
mod numbers;
mod phone;
mod span;
mod wallet;

use std::borrow::Cow;

use crate::allow::Allowed;

/// Personal data and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Personal {
    /// The id of the rule that found it: stable, in records.
    pub rule: &'static str,
    /// What kind of data it is, as it is shown in its place.
    pub kind: &'static str,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Findings that are reported.
const PERSONAL_MAX: usize = 4096;

/// Finds the personal data of `text`. Linear in the length of the text.
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
    for span in span::spans(text) {
        account::find(&span, &mut all);
        numbers::find(&span, &mut all);
        phone::find(&span, &mut all);
    }
    date::find(text, &mut all);
    numbers::passport_line(text, &mut all);
    all.retain(|it| {
        !allowed.permits(it.rule, text.as_bytes().get(it.start..it.end).unwrap_or_default())
    });
    let mut all = merged(all);
    all.truncate(PERSONAL_MAX);
    all
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
