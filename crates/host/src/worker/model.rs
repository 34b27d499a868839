//! Who asks models for a worker.

use std::path::Path;

use llm::{Answer, Flow, LlmError, Piece, Price, Request};
use model::Caller;
use policy::access::{ModelRef, Task};

use crate::gate::Gate;
use crate::models::{Cancelled, Catalog, Models};

/// Asks models in the session of a caller, through the gate.
pub trait Asks: Send + Sync {
    /// Asks once. Pieces of the answer are handed over as they come. Nobody waits for it once `is_cancelled` says so: then it ends
    /// where it is.
    ///
    /// # Errors
    /// If the gate refuses it, or no model gives a whole answer. What was used is in the error.
    fn ask_until(
        &self,
        who: &Caller,
        request: &Request,
        is_cancelled: Cancelled<'_>,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError>;

    /// What a model costs, where that is known: as much as the dearest, where the name is that of a task that has several.
    fn price(&self, model: &str) -> Option<Price>;

    /// How many models may be asked in turn for an answer of this one, or of this task.
    fn models_of(&self, model: &str) -> usize {
        let _ = model;
        1
    }

    /// What an answer costs: as much as the dearest of those that were asked for it and used something.
    fn price_of(&self, answer: &Answer) -> Option<Price> {
        dearest_of(answer.models().map(|it| self.price(it)))
    }

    /// One model of each provider, as `provider/model`: those that are asked first.
    fn one_of_each(&self) -> Vec<String> {
        Vec::new()
    }

    /// The settings in `home` may be others.
    ///
    /// # Errors
    /// If the models cannot be had as they say now: then those that there were are asked.
    fn read_again(&self, gate: &Gate, home: &Path) -> Result<(), String> {
        let _ = (gate, home);
        Ok(())
    }
}

impl Asks for Models {
    fn ask_until(
        &self,
        who: &Caller,
        request: &Request,
        is_cancelled: Cancelled<'_>,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        Models::ask_until(self, who, request, is_cancelled, on_piece)
    }

    fn price(&self, model: &str) -> Option<Price> {
        let catalog = self.catalog();
        dearest_of(meant(catalog, model).into_iter().map(|it| catalog.price(it)))
    }

    fn models_of(&self, model: &str) -> usize {
        meant(self.catalog(), model).len()
    }

    fn one_of_each(&self) -> Vec<String> {
        let catalog = self.catalog();
        let first = catalog.chain(Task::Default).iter().chain(catalog.all());
        let mut found: Vec<&ModelRef> = Vec::new();
        for it in first {
            if found.iter().all(|other| other.provider != it.provider) {
                found.push(it);
            }
        }
        found.into_iter().map(ToString::to_string).collect()
    }
}

/// The models that a name means. A request without one means the task of the same name.
fn meant<'a>(catalog: &'a Catalog, model: &str) -> Vec<&'a ModelRef> {
    let name = if model.is_empty() { Task::Default.as_str() } else { model };
    let is_meant = |it: &&ModelRef| it.model == name || it.to_string() == name;
    match Task::parse(name) {
        Some(task) => catalog.chain(task).iter().collect(),
        None => catalog.all().into_iter().filter(is_meant).collect(),
    }
}

/// The dearest of all, in each kind of tokens; none if one of them is not known.
pub(crate) fn dearest_of(prices: impl Iterator<Item = Option<Price>>) -> Option<Price> {
    prices.collect::<Option<Vec<Price>>>()?.into_iter().reduce(dearest)
}

fn dearest(one: Price, other: Price) -> Price {
    Price {
        input: one.input.max(other.input),
        output: one.output.max(other.output),
        cache_read: one.cache_read.max(other.cache_read),
        cache_write: one.cache_write.max(other.cache_write),
    }
}
