//! Carries out `llm_call`: asks the models that the settings name, and records what it took.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use agent::Estimate;
use evidence::Journal;
use llm::mock::SCRIPT_BYTES_MAX;
use llm::{
    Answer, Attempt, Chain, Cooldowns, ErrorKind, Flow, HttpProvider, Link, LlmError, Mock, Piece,
    Price, Request, Screened, Usage,
};
use model::ipc::LlmCall;
use model::provider::{Llm, Provider, ProviderKind};
use monitor::{Output, Permit, Status, Words};
use policy::access::{Global, ModelRef, Models as Settings};

use super::error::ModelsError;
use super::message;
use super::paying::Payer;
use super::record::Asked;
use super::screen::SecretScreen;
use super::wanted::Catalog;
use super::way::{Cancelled, Ways};
use crate::admission;
use crate::gate::Gate;
use crate::worker::dearest_of;

/// Asks models.
pub struct Desk {
    catalog: Catalog,
    journal: Arc<Journal>,
    mock: Mock,
    /// There unless all models are scripted.
    ways: Option<Ways>,
    cooldowns: Cooldowns,
}

/// What came of a question, for the gate and for who asked.
pub(super) struct Told {
    pub(super) output: Output,
    pub(super) usage: Usage,
    pub(super) failed: Option<ErrorKind>,
    /// What the model costs that was asked last.
    price: Option<Price>,
}

impl Desk {
    /// The models that the settings in `home` choose; none if they choose none.
    ///
    /// # Errors
    /// If they cannot be had as the settings say.
    pub(super) fn of(gate: &Gate, home: &Path) -> Result<Option<Self>, ModelsError> {
        let Some(Provider::Llm(chosen)) = admission::providers(home)?.of(ProviderKind::Llm) else {
            return Ok(None);
        };
        let settings = admission::settings(home)?;
        let models = settings.as_ref().map(Global::models).cloned().unwrap_or_default();
        let catalog = Catalog::new(chosen, &models)?;
        let mock = match &models.script {
            Some(name) => script(home, name)?,
            None => Mock::default(),
        };
        let journal = Arc::clone(&gate.journal);
        let is_scripted = catalog.all().iter().all(|it| it.provider == Llm::Mock);
        let ways = match is_scripted {
            true => None,
            false => Some(Ways::new(settings.as_ref(), gate.keeper.clone(), Arc::clone(&journal))?),
        };
        Ok(Some(Self { catalog, journal, mock, ways, cooldowns: Cooldowns::default() }))
    }

    /// The mock provider, without a script.
    ///
    /// # Errors
    /// If its list of models is none.
    pub(super) fn mock(gate: &Gate) -> Result<Self, ModelsError> {
        let catalog = Catalog::new(Llm::Mock, &Settings::default())?;
        let (journal, cooldowns) = (Arc::clone(&gate.journal), Cooldowns::default());
        Ok(Self { catalog, journal, mock: Mock::default(), ways: None, cooldowns })
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Answers the message of an agent, which waits for the whole; paid by `payer`, if there is one.
    pub(crate) fn call(&self, permit: Permit<LlmCall>, payer: Option<&Payer>) -> Output {
        let whole =
            |permit, max_tokens| self.ask(permit, max_tokens, &|| false, &mut |_| Flow::Continue);
        let Some(payer) = payer else { return whole(permit, None).output };
        let request = message::request(permit.effect());
        let paid = payer.paid(self.at_most(permit.effect(), &request), &request, |max_tokens| {
            let told = whole(permit, max_tokens);
            (told.output, told.usage, told.price)
        });
        paid.unwrap_or_else(Output::not_begun)
    }

    /// What a call may use at most: at the price of the dearest model that it may mean, if it is known of all of them.
    fn at_most(&self, call: &LlmCall, request: &Request) -> Estimate {
        let model = call.model.as_ref().map(|it| it.as_str());
        let models = self.catalog.wanted(call.provider.as_str(), model).unwrap_or_default();
        let price = dearest_of(models.iter().map(|it| self.catalog.price(it)));
        Estimate::of(request, price).asked_of(models.len())
    }

    /// Asks as `permit` permits, for an answer of at most so many tokens.
    pub(super) fn ask(
        &self,
        permit: Permit<LlmCall>,
        max_tokens: Option<u32>,
        is_cancelled: Cancelled<'_>,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Told {
        let call = permit.effect();
        let model = call.model.as_ref().map(|it| it.as_str());
        let models = match self.catalog.wanted(call.provider.as_str(), model) {
            Ok(models) => models,
            Err(why) => return Told::not_begun(why),
        };
        let begun = Instant::now();
        let mut failed = Vec::new();
        let outcome =
            self.answer((&permit, max_tokens), &models, (is_cancelled, on_piece), &mut failed);
        let price_of = |it: &str| self.catalog.price_of(it);
        let price = match &outcome {
            Ok(answer) => dearest_of(answer.models().map(price_of)),
            // Whoever of them has used something.
            Err(_) => dearest_of(failed.iter().map(|(name, _)| price_of(name))),
        };
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let asked = Asked { outcome: &outcome, failed: &failed, price, took_ms };
        // INVARIANT (NothingSilent): of what is not recorded nothing is given out.
        if asked.append(&self.journal, &permit).is_err() {
            // It was used all the same, and is paid.
            let Told { usage, .. } = Told::of(outcome);
            return Told {
                usage,
                price,
                ..Told::not_begun("what was asked could not be recorded")
            };
        }
        drop(permit.spend());
        Told { price, ..Told::of(outcome) }
    }

    fn answer(
        &self,
        (permit, max_tokens): (&Permit<LlmCall>, Option<u32>),
        models: &[ModelRef],
        (is_cancelled, on_piece): (Cancelled<'_>, &mut dyn FnMut(Piece) -> Flow),
        failed: &mut Vec<(String, &'static str)>,
    ) -> Result<Answer, LlmError> {
        let asked = message::request(permit.effect());
        let max_tokens = [asked.max_tokens, max_tokens].into_iter().flatten().min();
        let request = Request { max_tokens, ..asked };
        let wires: Vec<_> = models
            .iter()
            .map(|it| {
                let ways = self.ways.as_ref()?;
                let way = ways.to(it.provider)?;
                Some((way.dialect, ways.wire(way, permit, is_cancelled)))
            })
            .collect();
        let asked: Vec<_> = wires
            .iter()
            .map(|it| it.as_ref().map(|(dialect, wire)| HttpProvider { dialect: *dialect, wire }))
            .collect();
        let links = models.iter().zip(&asked).map(|(it, http)| Link {
            provider: Provider::Llm(it.provider).name(),
            model: &it.model,
            attempt: http.as_ref().map_or(&self.mock as &dyn Attempt, |it| it),
        });
        let chain = Chain { links: links.collect(), cooldowns: &self.cooldowns };
        let scrubs = permit.scrubs();
        let mut on_failed =
            |name: &str, error: &LlmError| failed.push((name.to_owned(), error.kind.as_str()));
        let screen = SecretScreen::new(permit.scrubs());
        let mut screened = Screened::new(&screen, on_piece);
        let mut pass = |piece| screened.piece(piece);
        let outcome = chain.ask_telling(&request, &mut pass, &mut on_failed);
        match outcome {
            Ok(answer) => {
                // The answer is whole: that nobody wants its last words changes nothing of it.
                let _wanted = screened.finish();
                Ok(answer)
            }
            Err(error) => {
                Err(LlmError { detail: scrubs.clean(&error.detail).into_owned(), ..error })
            }
        }
    }
}

impl Told {
    fn not_begun(why: impl Into<String>) -> Self {
        let failed = Some(ErrorKind::Invalid);
        let (output, usage) = (Output::not_begun(why), Usage::default());
        Self { output, usage, failed, price: None }
    }

    fn of(outcome: Result<Answer, LlmError>) -> Self {
        match outcome {
            Ok(answer) => match serde_json::to_string(&answer) {
                Ok(body) => {
                    let (output, usage) = (Output::text(body), answer.usage);
                    Self { output, usage, failed: None, price: None }
                }
                Err(_) => Self::not_begun("the answer cannot be written down"),
            },
            Err(error) => {
                // Some of the words may be the provider's.
                let output = Output {
                    status: Status::Failed,
                    words: Words::Theirs,
                    ..Output::text(format!("{}: {}", error.kind, error.detail))
                };
                Self { output, usage: error.usage, failed: Some(error.kind), price: None }
            }
        }
    }
}

/// Reads the script of the mock provider: a file of the operator's, in the state directory.
pub(super) fn script(home: &Path, name: &str) -> Result<Mock, ModelsError> {
    let wrong = |error| ModelsError::File { name: name.to_owned(), error };
    let relative = files::Relative::parse(name)
        .map_err(|it| ModelsError::Chosen(format!("`script`: {it}")))?;
    let path = home.join(relative.as_str());
    let bytes = files::private::read(&path, SCRIPT_BYTES_MAX as u64).map_err(wrong)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| ModelsError::Chosen(format!("`{name}` is not UTF-8")))?;
    Ok(Mock::parse(&text)?)
}
