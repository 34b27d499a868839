//! What servers tell the model to begin with, as it was accepted.

use ::mcp::trust::Trust;
use aegx::Digest;
use serde::{Deserialize, Serialize};

use super::Servers;

/// How much is kept of instructions that are held, in bytes.
const HELD_BYTES_MAX: usize = 16 << 10;

/// The instructions of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instructions {
    /// SHA-256 of those that were accepted.
    pub sha256: String,
    /// Others that came since, until a person accepts them; cut where they are very long.
    #[serde(default)]
    pub held: Option<Held>,
}

/// Instructions that are held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// SHA-256 of all of them.
    pub sha256: String,
    /// The beginning, for people.
    pub beginning: String,
}

/// What is known of instructions that a server gives now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// They are as they were accepted, or the first.
    Accepted,
    /// They are others, and were held before.
    Held,
    /// They are others, and nobody has seen them yet.
    Changed,
}

impl Servers {
    /// What instructions of a server are, as they come now. Nothing is written.
    #[must_use]
    pub fn told(&self, server: &str, text: &str) -> Told {
        let sha256 = Digest::of(text.as_bytes()).to_string();
        match self.instructions.get(server) {
            Some(known) if known.sha256 == sha256 => Told::Accepted,
            Some(Instructions { held: Some(held), .. }) if held.sha256 == sha256 => Told::Held,
            Some(_) | None => Told::Changed,
        }
    }

    /// Takes instructions in that are not as they were accepted: the first are, and those of a server that is trusted; others are
    /// held until a person accepts them. `own` is the line by which it is started or reached.
    pub fn hear(&mut self, server: &str, own: Option<&str>, text: &str) -> Told {
        let sha256 = Digest::of(text.as_bytes()).to_string();
        let is_trusted = self.trust_by(server, own) == Trust::Trusted;
        match self.instructions.get_mut(server) {
            Some(known) if !is_trusted && known.sha256 != sha256 => {
                let end = text.floor_char_boundary(HELD_BYTES_MAX);
                let beginning = text.get(..end).unwrap_or_default().to_owned();
                known.held = Some(Held { sha256, beginning });
                Told::Changed
            }
            Some(_) | None => {
                let told = Instructions { sha256, held: None };
                self.instructions.insert(server.to_owned(), told);
                Told::Accepted
            }
        }
    }

    /// Accepts instructions that are held of a server: exactly those that were `shown`.
    pub fn accept_instructions(&mut self, server: &str, shown: &Held) {
        if let Some(known) = self.instructions.get_mut(server)
            && known.held.as_ref() == Some(shown)
        {
            *known = Instructions { sha256: shown.sha256.clone(), held: None };
        }
    }
}
