//! Who asks models for a worker.

use llm::{Answer, Flow, LlmError, Piece, Request, Usage};
use model::Caller;
use policy::access::Task;

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

    /// What so much costs of a model, in micro-dollars, where that is known: of the dearest, where the name is that of a task
    /// that has several.
    fn cost(&self, model: &str, usage: &Usage) -> Option<u64>;
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

    fn cost(&self, model: &str, usage: &Usage) -> Option<u64> {
        let Some(task) = Task::parse(model) else {
            return self.catalog().price_of(model).map(|it| it.cost(usage));
        };
        let each = self.catalog().chain(task).iter();
        let costs = each.map(|it| self.catalog().price(it).map(|it| it.cost(usage)));
        costs.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }
}
