//! Does somebody try to get the instructions out of an assistant, little by little?
//!
//! One question about "how you were set up" is curiosity; one after the other is an attack. A [`Conversation`] is a value
//! that the caller keeps for one user and one agent: a new session does not begin it anew. Time is an
//! argument.

mod probe;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

pub use probe::Signs;

/// Messages that are remembered.
pub const MESSAGES_MAX: usize = 10;
/// For how long they are remembered, in seconds.
pub const WINDOW_S: i64 = 300;
/// The sum of scores from which on it is an attack, in thousandths.
pub const SUM_PERMILLE_FROM: u32 = 1500;
/// Messages that score from which on it is an attack, however little each.
pub const SUSTAINED_FROM: usize = 3;
/// The least score that counts as one, in thousandths.
const SCORES_FROM_PERMILLE: u32 = 200;

/// The last messages of one user to one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    messages: VecDeque<Message>,
}

/// What is remembered of a message: not its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Message {
    at_s: i64,
    permille: u32,
}

/// What a message is, together with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The signs in this message alone.
    pub signs: Signs,
    /// Its score, in thousandths.
    pub permille: u32,
    /// The sum over the messages that are remembered, this one included, in thousandths.
    pub sum_permille: u32,
    /// Why it is an attack, if it is one.
    pub crescendo: Option<Crescendo>,
}

/// Why messages are an attack together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Crescendo {
    /// Their scores add up.
    Sum,
    /// A message that scored is followed by one that asks on.
    Probe,
    /// Many of them score, each a little.
    Sustained,
}

impl Conversation {
    /// Takes in a message at `now`, in seconds since any fixed moment.
    pub fn hear(&mut self, now: i64, text: &str) -> Heard {
        let signs = probe::signs(text);
        let permille = signs.permille();
        self.forget_before(now.saturating_sub(WINDOW_S));
        let follows = self.messages.back().is_some_and(|it| scores(it.permille));
        self.keep(Message { at_s: now, permille });
        let sum_permille = self.messages.iter().map(|it| it.permille).sum();
        let scoring = self.messages.iter().filter(|it| scores(it.permille)).count();
        // A message without any sign is none of an attack, whatever went before.
        let asks = scores(permille) || signs.internal;
        let crescendo = if !asks {
            None
        } else if sum_permille >= SUM_PERMILLE_FROM && scoring > 1 {
            Some(Crescendo::Sum)
        } else if scoring >= SUSTAINED_FROM {
            Some(Crescendo::Sustained)
        } else if follows && signs.addressed {
            Some(Crescendo::Probe)
        } else {
            None
        };
        Heard { signs, permille, sum_permille, crescendo }
    }

    fn forget_before(&mut self, oldest: i64) {
        self.messages.retain(|it| it.at_s > oldest);
    }

    /// Harmless messages go first: small talk in between does not make what was asked forgotten.
    fn keep(&mut self, message: Message) {
        while self.messages.len() >= MESSAGES_MAX {
            let harmless = self.messages.iter().position(|it| !scores(it.permille));
            self.messages.remove(harmless.unwrap_or(0));
        }
        self.messages.push_back(message);
    }
}

fn scores(permille: u32) -> bool {
    permille >= SCORES_FROM_PERMILLE
}

impl Crescendo {
    /// Returns the rule's name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sum => "crescendo-sum",
            Self::Probe => "crescendo-probe",
            Self::Sustained => "crescendo-sustained",
        }
    }
}
