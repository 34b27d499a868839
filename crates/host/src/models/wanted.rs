//! Which models a request may ask for, and in which order: the operator's list, and nothing else.

use std::collections::BTreeMap;

use model::provider::{self, Llm, ProviderKind};
use policy::access::{ModelRef, Models as Settings, Price, Task, runs_models};

use super::error::ModelsError;

/// The one model of the mock provider, where the settings name none.
const SCRIPTED: &str = "mock/scripted";

/// The models that the settings name.
#[derive(Clone, Debug)]
pub struct Catalog {
    chosen: Llm,
    chains: BTreeMap<Task, Vec<ModelRef>>,
    also: Vec<ModelRef>,
    guardrail: Option<ModelRef>,
    prices: BTreeMap<ModelRef, Price>,
}

impl Catalog {
    /// The models that `settings` name where the provider `chosen` is chosen.
    ///
    /// # Errors
    /// If none is named for `default`, or one that the chosen provider does not run.
    pub(super) fn new(chosen: Llm, settings: &Settings) -> Result<Self, ModelsError> {
        let mut chains = settings.chains.clone();
        let wrong = |why: String| Err(ModelsError::Chosen(why));
        let name = provider::Provider::Llm(chosen).name();
        if chosen == Llm::Mock
            && !chains.contains_key(&Task::Default)
            && let Ok(scripted) = ModelRef::parse(SCRIPTED)
        {
            chains.insert(Task::Default, vec![scripted]);
        }
        if !chains.contains_key(&Task::Default) {
            return wrong(format!(
                "`providers: {{llm: {name}}}` is chosen, and `default` names no model: write `default: {name}/…`"
            ));
        }
        let all = chains.values().flatten().chain(&settings.also).chain(&settings.guardrail);
        if runs_models(chosen)
            && let Some(other) = all.clone().find(|it| it.provider != chosen)
        {
            return wrong(format!(
                "it names `{other}`, and `providers: {{llm: {name}}}` chooses one provider; choose `router` for several"
            ));
        }
        if settings.local.is_none()
            && let Some(local) = all.clone().find(|it| it.provider == Llm::Local)
        {
            return wrong(format!("it names `{local}`, and `local` has no `url`"));
        }
        let (also, prices) = (settings.also.clone(), settings.prices.clone());
        Ok(Self { chosen, chains, also, guardrail: settings.guardrail.clone(), prices })
    }

    /// The provider that the settings choose.
    #[must_use]
    pub fn chosen(&self) -> &'static str {
        provider::Provider::Llm(self.chosen).name()
    }

    /// The models for a task, the first choice first; those of `default` where it has none of its own.
    #[must_use]
    pub fn chain(&self, task: Task) -> &[ModelRef] {
        let chain = self.chains.get(&task).or_else(|| self.chains.get(&Task::Default));
        chain.map(Vec::as_slice).unwrap_or_default()
    }

    /// Has the task models of its own?
    #[must_use]
    pub fn has(&self, task: Task) -> bool {
        self.chains.contains_key(&task)
    }

    /// All models that may be asked for, each once.
    #[must_use]
    pub fn all(&self) -> Vec<&ModelRef> {
        let mut all: Vec<_> =
            self.chains.values().flatten().chain(&self.also).chain(&self.guardrail).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The model that judges texts, if the settings name one.
    #[must_use]
    pub fn guardrail(&self) -> Option<&ModelRef> {
        self.guardrail.as_ref()
    }

    /// What a model costs, if the settings say so.
    #[must_use]
    pub fn price(&self, model: &ModelRef) -> Option<llm::Price> {
        let Price { input, output, cache_read, cache_write } = *self.prices.get(model)?;
        Some(llm::Price { input, output, cache_read, cache_write })
    }

    /// The same by `provider/model`, as an answer names it.
    #[must_use]
    pub fn price_of(&self, name: &str) -> Option<llm::Price> {
        self.price(&ModelRef::parse(name).ok()?)
    }

    /// The models that a request for `provider` and `model` means, the first choice first.
    ///
    /// # Errors
    /// A sentence for whoever asked, if the settings name no such model.
    pub(super) fn wanted(
        &self,
        provider: &str,
        model: Option<&str>,
    ) -> Result<Vec<ModelRef>, String> {
        let Ok(provider::Provider::Llm(of)) =
            provider::resolve(ProviderKind::Llm.as_str(), provider)
        else {
            return Err(format!("there is no llm provider `{}`", provider.escape_debug()));
        };
        let is_wanted = |it: &ModelRef| !runs_models(of) || it.provider == of;
        let task = model.map_or(Some(Task::Default), Task::parse);
        let found: Vec<ModelRef> = match (task, model) {
            (Some(task), _) => {
                self.chain(task).iter().filter(|it| is_wanted(it)).cloned().collect()
            }
            (None, Some(model)) => self
                .all()
                .into_iter()
                .filter(|it| is_wanted(it) && (it.model == model || it.to_string() == model))
                .cloned()
                .collect(),
            (None, None) => Vec::new(),
        };
        if found.is_empty() {
            let model = model.unwrap_or("default").escape_debug();
            return Err(format!(
                "the settings name no model `{model}` of `{provider}`; the operator adds it under `models` in config.yaml"
            ));
        }
        Ok(found)
    }
}
