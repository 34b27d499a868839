//! Base64 that gives orders once it is decoded. Decoded once, and not too much of it.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

use super::{Category, Finding, score, visible};

/// The shortest run that can hold an order, in characters.
const RUN_MIN: usize = 40;
/// Decoded in one text altogether, in bytes.
const DECODED_BYTES_MAX: usize = 64 * 1024;
/// The score from which on decoded text counts as orders.
const ORDERS_FROM: f64 = 0.5;

/// Finds encoded orders in `text`.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut left = DECODED_BYTES_MAX;
    let bytes = text.as_bytes();
    let mut at = 0;
    // Every long run covers one of the places that are a run's least length apart.
    while let Some(byte) = bytes.get(at) {
        if !is_base64(*byte) {
            at += RUN_MIN;
            continue;
        }
        let start = run_start(bytes, at);
        let end = at + bytes.iter().skip(at).take_while(|it| is_base64(**it)).count();
        if end - start >= RUN_MIN && left > 0 {
            let run = bytes.get(start..end.min(start + left)).unwrap_or_default();
            left = left.saturating_sub(run.len());
            found.extend(orders(run, start, end));
        }
        at = end + RUN_MIN;
    }
    found
}

fn orders(run: &[u8], start: usize, end: usize) -> Option<Finding> {
    // What is left of a group of four cannot be decoded alone.
    let run = run.get(..run.len() - run.len() % 4)?;
    let decoded = BASE64_NOPAD.decode(run).or_else(|_| BASE64URL_NOPAD.decode(run)).ok()?;
    let text = String::from_utf8_lossy(&decoded);
    let weight = score(&visible(&text));
    let category = Category::Encoded;
    (weight >= ORDERS_FROM).then_some(Finding {
        rule: "encoded_orders",
        category,
        start,
        end,
        weight,
    })
}

fn run_start(bytes: &[u8], at: usize) -> usize {
    let before = bytes.iter().take(at).rev().take_while(|it| is_base64(**it));
    at - before.take(RUN_MIN).count()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
