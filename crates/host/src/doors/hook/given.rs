//! Prompts that servers have given through the gateway: an agent may hand one over as what its user said.

use std::collections::VecDeque;

use super::expanded::Said;
use super::{HookDoor, lock};

/// Prompts that are known at once: the oldest makes room.
const GIVEN_MAX: usize = 32;
/// Bytes of one that are looked at.
const GIVEN_BYTES_MAX: usize = 256 << 10;

/// The last prompts that servers have given.
#[derive(Debug, Default)]
pub(super) struct Given(VecDeque<Said>);

impl HookDoor<'_> {
    /// Notes a prompt of a server that nobody vouches for.
    pub(in crate::doors) fn was_given(&self, prompt: &str) {
        let prompt = prompt.get(..prompt.floor_char_boundary(GIVEN_BYTES_MAX)).unwrap_or_default();
        let Given(all) = &mut *lock(&self.given);
        if all.len() >= GIVEN_MAX {
            all.pop_front();
        }
        all.push_back(Said::of(prompt));
    }

    /// Is a prompt made of one of them?
    pub(super) fn is_given(&self, prompt: &Said) -> bool {
        lock(&self.given).0.iter().any(|it| it.is_said_in(prompt))
    }
}
