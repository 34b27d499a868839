//! Takes what is kept out of texts, and out of all texts where nobody knows what that is.

use std::ops::Range;

use monitor::{HeldSecret, Scrubber};
use scan::net::Domains;

use super::Keeper;

/// What stands in the place of an output while nobody knows what to take out of it.
const WITHHELD: &str =
    "[withheld: the vault was changed and does not open; the operator should look]";
/// The same where somebody tries values.
const GUESSED: &str =
    "[withheld: there are too many values that are almost a secret; the operator should look]";

impl Scrubber for Keeper {
    fn scrub_part(&self, text: &str, part: Range<usize>) -> Option<String> {
        // INVARIANT (SecretsDoNotPrint): where nobody knows what must not get out, nothing does.
        if !self.knows_all() {
            return Some(WITHHELD.to_owned());
        }
        let looked = self.scrub.look(text);
        if self.is_guessed(&looked) {
            return Some(GUESSED.to_owned());
        }
        looked.without(text, part)
    }

    fn held(&self, text: &str) -> Vec<HeldSecret> {
        if !self.knows_all() {
            let name = "a vault that does not open".to_owned();
            return vec![HeldSecret { name, hosts: Domains::default() }];
        }
        let looked = self.scrub.look(text);
        if self.is_guessed(&looked) {
            let name = "values that are almost a secret".to_owned();
            return vec![HeldSecret { name, hosts: Domains::default() }];
        }
        looked.held()
    }

    fn longest(&self) -> usize {
        self.scrub.longest()
    }
}
