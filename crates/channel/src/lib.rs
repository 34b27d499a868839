//! Messengers by which people write to agents: what they say, and how they are told something.
//!
//! One file for each messenger: what it sends is read strictly into [`Inbound`], what is said goes out as plain text
//! in chunks, without previews of links and without mentions. No sockets, no keys and no clock: whoever owns the way
//! out and the tokens implements [`Wire`]. Who somebody is, and what follows from that, is decided elsewhere; here it
//! is said who the messenger says it was, and whether the words are their own.

mod address;
mod backoff;
mod chunk;
mod discord;
mod error;
mod inbound;
mod seen;
mod slack;
mod telegram;
mod whatsapp;
mod wire;

pub use address::{Address, AddressError, Ids, PART_BYTES_MAX, Scope};
pub use backoff::{BACKOFF_FIRST, BACKOFF_MAX, Backoff};
pub use chunk::{CHUNK_CHARS_MAX, chunks_of};
pub use discord::Discord;
pub use error::{ChannelError, Health};
pub use inbound::{AGE_SECONDS_MAX, Attachment, Inbound, Place, Words};
pub use seen::{Noted, SEEN_FOR, SEEN_PER_SENDER_MAX, SENDERS_MAX, Seen};
pub use slack::{Slack, SlackCall};
pub use telegram::Telegram;
pub use whatsapp::WhatsApp;
pub use wire::{ANSWER_BYTES_MAX, Request, Response, TokenPlace, Verb, Wire, WireError};

/// A messenger.
pub trait Channel: Send + Sync {
    /// Asks for what was said since the last time, and waits a while for it.
    ///
    /// # Errors
    /// If it cannot be asked, or what it answers is not understood.
    fn receive(&self, wire: &dyn Wire) -> Result<Vec<Inbound>, ChannelError>;

    /// Says something, in as many chunks as that takes.
    ///
    /// # Errors
    /// If there is no such place, or the messenger does not take it. What was said before stays said.
    fn send(&self, wire: &dyn Wire, to: &Address, text: &str) -> Result<(), ChannelError>;

    /// The longest text that it takes as one message, in characters as it counts them.
    fn chars_max(&self) -> usize {
        CHUNK_CHARS_MAX
    }

    /// Nothing more is asked for: what was heard is not to be told again.
    ///
    /// # Errors
    /// If the messenger does not hear that.
    fn leave(&self, _wire: &dyn Wire) -> Result<(), ChannelError> {
        Ok(())
    }

    /// Returns how the last exchange went.
    fn health(&self) -> Health;
}
