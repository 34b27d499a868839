//! Who asks models for a worker.

use llm::{Answer, Flow, LlmError, Piece, Price, Request};
use model::Caller;

use crate::models::Models;

/// Asks models in the session of a caller, through the gate.
pub trait Asks: Send + Sync {
    /// Asks once. Pieces of the answer are handed over as they come.
    ///
    /// # Errors
    /// If the gate refuses it, or no model gives a whole answer. What was used is in the error.
    fn ask(
        &self,
        who: &Caller,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError>;

    /// What the model of this name costs, where that is known.
    fn price(&self, model: &str) -> Option<Price>;
}

impl Asks for Models {
    fn ask(
        &self,
        who: &Caller,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        Models::ask(self, who, request, on_piece)
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.catalog().price_of(model)
    }
}
