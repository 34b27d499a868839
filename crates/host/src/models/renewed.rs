//! The models of a host that runs on while its settings change.

use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use llm::{Answer, Flow, LlmError, Piece, Price, Request};
use model::Caller;
use model::provider::ProviderKind;
use policy::access::Global;

use super::{Cancelled, Models, ModelsError};
use crate::admission;
use crate::gate::Gate;
use crate::worker::Asks;

/// Models as the settings said it last. A question that was begun is answered by those it began with.
pub struct RenewedModels {
    now: RwLock<Models>,
    /// The settings that were read for them.
    read: Mutex<Global>,
}

impl RenewedModels {
    /// The models that the settings in `home` choose, behind `gate`; none if they choose none.
    ///
    /// # Errors
    /// If they cannot be had as the settings say.
    pub fn of(gate: &Gate, home: &Path) -> Result<Option<Self>, ModelsError> {
        // Before: what is written in between is read again.
        let read = admission::settings(home)?.unwrap_or_default();
        let models = Models::of(gate, home)?;
        Ok(models.map(|it| Self { now: RwLock::new(it), read: Mutex::new(read) }))
    }

    fn now(&self) -> Models {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Asks for RenewedModels {
    fn ask_until(
        &self,
        who: &Caller,
        request: &Request,
        is_cancelled: Cancelled<'_>,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        self.now().ask_until(who, request, is_cancelled, on_piece)
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.now().price(model)
    }

    fn models_of(&self, model: &str) -> usize {
        self.now().models_of(model)
    }

    fn one_of_each(&self) -> Vec<String> {
        self.now().one_of_each()
    }

    fn read_again(&self, gate: &Gate, home: &Path) -> Result<(), String> {
        let text = |it: &dyn std::fmt::Display| it.to_string();
        let settings = admission::settings(home).map_err(|it| text(&it))?.unwrap_or_default();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        // Who failed lately is remembered by them, so they go on where nothing of theirs is other.
        if are_same(&read, &settings) {
            return Ok(());
        }
        let models = Models::of(gate, home).map_err(|it| text(&it))?;
        let models = models.ok_or("`providers` in config.yaml choose no `llm` any more")?;
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = models;
        *read = settings;
        Ok(())
    }
}

/// Do both say the same of models, and of the way to them?
fn are_same(one: &Global, other: &Global) -> bool {
    one.provider(ProviderKind::Llm) == other.provider(ProviderKind::Llm)
        && one.models() == other.models()
        && one.egress() == other.egress()
}
