//! `lazaret check secret`.

use scan::Allowed;
use scan::secret::{Confidence, Secret, find_from, redacted};
use serde_json::{Map, Value, json};

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};

/// Scan texts for secrets: keys, tokens and passwords.
///
/// A request on stdin has `text`, and may have `allow`, lines of rules and SHA-256 hashes of values that are fine. An
/// answer has `decision` (`allow` or `deny`), `findings`, each with `rule`, `provider`, `confidence`, `start` and `end`, and
/// `redacted`, the text without what was found. The values themselves are not printed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// Report beginnings of secrets and other weak signs, too.
    #[arg(long)]
    weak: bool,
    /// Texts; without any, requests are read from stdin.
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let least = if args.weak { Confidence::Weak } else { Confidence::Likely };
    if args.texts.is_empty() {
        return batch::from_stdin(args.batch, |fields| request(fields, least));
    }
    let values = args.texts.iter().map(String::as_str);
    let judge = |text: &str| told(text, &find_from(text, least, &Allowed::default()));
    Ok(batch::from_arguments(args.batch, values, judge))
}

fn request(fields: &Map<String, Value>, least: Confidence) -> Result<Answer, String> {
    let text = batch::text(fields)?;
    Ok(told(text, &find_from(text, least, &batch::allowed(fields)?)))
}

fn told(text: &str, found: &[Secret]) -> Answer {
    let findings: Vec<Value> = found
        .iter()
        .map(|it| {
            json!({
                "rule": it.rule, "provider": it.provider, "confidence": it.confidence.as_str(),
                "start": it.start, "end": it.end,
            })
        })
        .collect();
    let rules: Vec<&str> = found.iter().map(|it| it.rule).collect();
    batch::told_of_values(&rules, &findings, &redacted(text, found))
}
