//! Language models behind one trait: a request goes in, pieces of the answer come out, and at the end
//! what was used.
//!
//! Nothing here dials: a provider writes a request and reads an answer, and whoever owns the way out
//! carries both.

mod answer;
mod assembly;
mod attempt;
mod classify;
mod dialect;
mod effort;
mod error;
pub mod guardrail;
pub mod holdback;
mod http;
pub mod mock;
mod price;
mod request;
pub mod router;
pub mod sse;
pub mod wire;

pub use answer::{Answer, Flow, Piece, StopReason, Usage};
pub use assembly::{ANSWER_BYTES_MAX, BLOCKS_MAX};
pub use attempt::{Attempt, Failure};
pub use dialect::Dialect;
pub use effort::Effort;
pub use error::{DETAIL_CHARS_MAX, ErrorKind, LlmError};
pub use guardrail::{GuardrailFilter, Verdict};
pub use holdback::{Holdback, Screen, Screened};
pub use http::{ERROR_BYTES_MAX, HttpProvider, STREAM_BYTES_MAX};
pub use mock::Mock;
pub use price::Price;
pub use request::{Block, Message, Request, Role, ToolDefinition, as_object};
pub use router::{Chain, Cooldowns, Link};
pub use wire::Wire;

/// A provider of language models, ready to be asked.
pub trait Provider: Send + Sync {
    /// Answers `request`. Pieces are handed to `on_piece` as they arrive; the answer holds all of
    /// them again, whole. Returning [`Flow::Stop`] ends the stream early.
    ///
    /// # Errors
    /// If there is no whole answer; what was used until then is in the error.
    fn ask(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError>;
}
