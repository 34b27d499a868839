//! Language models: which ones the settings choose, and the one way to ask them.
//!
//! INVARIANT (OneGate): a question to a model is the action `llm_call`, whoever asks: an agent by a message, or the
//! parent of a worker by [`Models::ask`]. Both spend the permit of a decision that is recorded before anybody is asked.

mod desk;
mod error;
mod message;
mod paying;
mod record;
mod renewed;
mod screen;
pub mod status;
mod wanted;
mod way;

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;

use llm::{
    Answer, ErrorKind, Flow, GuardrailFilter, LlmError, Piece, Provider, Request, Usage, Verdict,
};
use model::{Caller, Effect};
use monitor::{Asked, Executor, Granted, Monitor, Output, Permit, Refusal, Status};

use crate::gate::Gate;

pub use desk::Desk;
pub use error::ModelsError;
pub use renewed::RenewedModels;
pub use wanted::Catalog;

pub(crate) use paying::{Paid, Payer};
pub(crate) use way::Cancelled;

/// The models of a host, behind its gate.
#[derive(Clone)]
pub struct Models {
    monitor: Arc<Monitor>,
    desk: Arc<Desk>,
}

impl Models {
    /// The models that the settings in `home` choose, behind `gate`; none if they choose none.
    ///
    /// # Errors
    /// If they cannot be had as the settings say.
    pub fn of(gate: &Gate, home: &Path) -> Result<Option<Self>, ModelsError> {
        let desk = Desk::of(gate, home)?;
        Ok(desk.map(|it| Self { monitor: Arc::clone(&gate.monitor), desk: Arc::new(it) }))
    }

    /// The mock provider behind `gate`, for a host whose settings choose no model.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn mock(gate: &Gate) -> Result<Self, ModelsError> {
        let desk = Arc::new(Desk::mock(gate)?);
        Ok(Self { monitor: Arc::clone(&gate.monitor), desk })
    }

    /// Asks a model in the session of `who`, through the gate. Pieces of the answer are handed to `on_piece` as they
    /// arrive, each after it was scanned together with what follows it; the answer comes after it was absorbed by the
    /// session. `request.model` is `provider/model`, a task (`default`, `fast`, `thinking`, `coding`), or empty.
    ///
    /// # Errors
    /// If the gate refuses it, or no model gives a whole answer. What was used is in the error.
    pub fn ask(
        &self,
        who: &Caller,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        self.ask_until(who, request, &|| false, on_piece)
    }

    /// The same, where nobody waits for the answer once `is_cancelled` says so: then it ends where it is.
    ///
    /// # Errors
    /// As [`Models::ask`].
    pub(crate) fn ask_until(
        &self,
        who: &Caller,
        request: &Request,
        is_cancelled: Cancelled<'_>,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        let asked = message::of(request);
        let asking = Asking {
            desk: &self.desk,
            is_cancelled,
            on_piece: RefCell::new(on_piece),
            used: Cell::new(Usage::default()),
            failed: RefCell::new(None),
        };
        let delivered = self.monitor.run(who, &Asked::Message(&asked), &asking);
        let (used, failed) = (asking.used.get(), asking.failed.take());
        let refused = |why: &dyn std::fmt::Display| {
            LlmError::new(ErrorKind::Refused, why.to_string()).after(used)
        };
        let output = match delivered {
            Ok(delivered) => delivered.output,
            Err(Refusal::Message(error)) => return Err(message::invalid(&error)),
            Err(error) => return Err(refused(&error)),
        };
        match (output.status, failed) {
            (Status::Done, _) => serde_json::from_str(&output.body)
                .map_err(|_| refused(&"the answer is withheld: it held what must not get out")),
            (Status::Failed | Status::NotBegun, Some(kind)) => {
                let told = output.body.strip_prefix(kind.as_str()).unwrap_or(&output.body);
                Err(LlmError::new(kind, told.trim_start_matches(": ")).after(used))
            }
            (Status::Failed | Status::NotBegun, None) => Err(refused(&output.body)),
        }
    }

    /// Judges a text in the session of `who` by the model that the settings name as `guardrail`. Without one, and
    /// whenever it cannot be asked, the text is flagged.
    #[must_use]
    pub fn judge(&self, who: &Caller, text: &str) -> Verdict {
        let Some(model) = self.catalog().guardrail() else {
            let reason = "`models` in config.yaml names no `guardrail`".to_owned();
            return Verdict::Flagged { reason };
        };
        let asking = InSession { models: self, who };
        GuardrailFilter::new(&asking, model.to_string()).judge(text)
    }

    /// Which models there are.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        self.desk.catalog()
    }

    /// What carries out `llm_call`.
    pub(crate) fn desk(&self) -> Arc<Desk> {
        Arc::clone(&self.desk)
    }
}

/// Does a request keep the limits of a question?
#[cfg(test)]
pub(crate) fn is_question(request: &Request) -> bool {
    model::ipc::parse(&message::of(request)).is_ok()
}

/// The models as one session asks them.
struct InSession<'a> {
    models: &'a Models,
    who: &'a Caller,
}

impl Provider for InSession<'_> {
    fn ask(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        self.models.ask(self.who, request, on_piece)
    }
}

/// Asks once, and keeps what the gate has no place for.
struct Asking<'a> {
    desk: &'a Desk,
    is_cancelled: Cancelled<'a>,
    on_piece: RefCell<&'a mut dyn FnMut(Piece) -> Flow>,
    used: Cell<Usage>,
    failed: RefCell<Option<ErrorKind>>,
}

impl Executor for Asking<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let Granted::LlmCall(permit) = permit.by_kind() else {
            return Output::not_begun("this asks models and does nothing else");
        };
        let mut on_piece = self.on_piece.borrow_mut();
        let told = self.desk.ask(permit, None, self.is_cancelled, &mut **on_piece);
        self.used.set(told.usage);
        self.failed.replace(told.failed);
        told.output
    }
}
