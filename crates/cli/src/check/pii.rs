//! `lazaret check pii`.

use scan::Allowed;
use scan::pii::{Personal, find_except, redacted};
use serde_json::{Map, Value, json};

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};

/// Scan texts for personal data: addresses, numbers of phones, cards, accounts and documents, dates of birth.
///
/// A request on stdin has `text`, and may have `allow`, lines of rules and SHA-256 hashes of values that are fine. An
/// answer has `decision` (`allow` or `deny`), `findings`, each with `rule`, `kind`, `start`, `end`, `confidence` (`checked` by its
/// check digits, `form`, or `words` nearby alone) and the `score` of that from 0 to 1, and `redacted`, the text without what was found. The values themselves are not printed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// Texts; without any, requests are read from stdin.
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.texts.is_empty() {
        return batch::from_stdin(args.batch, request);
    }
    let values = args.texts.iter().map(String::as_str);
    let judge = |text: &str| told(text, &find_except(text, &Allowed::default()));
    Ok(batch::from_arguments(args.batch, values, judge))
}

fn request(fields: &Map<String, Value>) -> Result<Answer, String> {
    let text = batch::text(fields)?;
    Ok(told(text, &find_except(text, &batch::allowed(fields)?)))
}

fn told(text: &str, found: &[Personal]) -> Answer {
    let findings: Vec<Value> = found
        .iter()
        .map(|it| {
            json!({
                "rule": it.rule, "kind": it.kind, "start": it.start, "end": it.end,
                "confidence": it.confidence.as_str(), "score": it.confidence.score(),
            })
        })
        .collect();
    let rules: Vec<&str> = found.iter().map(|it| it.rule).collect();
    batch::told_of_values(&rules, &findings, &redacted(text, found))
}
