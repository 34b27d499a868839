//! What is taken out of an answer while it streams: secrets that are held, and whatever has the form of one.

use std::ops::Range;

use llm::Screen;
use monitor::Scrubs;

/// How much longer a secret is in the longest writing in which it is looked for: every byte as `\u00xx`.
const CODED_FACTOR: usize = 6;

/// Takes secrets out of text that streams.
pub(super) struct SecretScreen {
    scrubs: Scrubs,
}

impl SecretScreen {
    pub(super) fn new(scrubs: Scrubs) -> Self {
        Self { scrubs }
    }
}

impl Screen for SecretScreen {
    fn window(&self) -> usize {
        self.scrubs.longest().saturating_mul(CODED_FACTOR)
    }

    fn clean(&self, text: &str, part: Range<usize>) -> String {
        let mut clean = String::new();
        let mut at = part.start;
        for found in scan::secret::find(text) {
            let (start, end) = (found.start.max(at), found.end.min(part.end));
            if start >= end {
                continue;
            }
            clean.push_str(&self.scrubs.clean_part(text, at..start));
            // What began before the part was named there.
            if found.start >= part.start {
                clean.push_str("[REDACTED:");
                clean.push_str(found.rule);
                clean.push(']');
            }
            at = end;
        }
        clean.push_str(&self.scrubs.clean_part(text, at..part.end));
        clean
    }

    fn waits_from(&self, text: &str) -> Option<usize> {
        // A private key has no end before its last line.
        scan::secret::find(text).into_iter().find(|it| it.end >= text.len()).map(|it| it.start)
    }
}
