//! A reason not to proceed, from a guard or from the policy.

use std::borrow::Cow;

use crate::Decision;

/// A reason not to proceed. It never holds a secret: it is shown, sent and recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// Id of the guard or rule: stable, in records, docs and corpus paths.
    pub rule: Cow<'static, str>,
    /// How far it goes; at least [`Decision::StepUp`].
    pub decision: Decision,
    /// A stable code for programs, such as `untrusted_destination`.
    pub code: Cow<'static, str>,
    /// One sentence for the model, which may pass on whatever it is told.
    pub for_model: String,
    /// One sentence for the person.
    pub for_person: String,
    /// What would make it pass, if anything would.
    pub remedy: Option<String>,
    /// Another way to what was wanted, for the model alone.
    pub fix: Option<Fix>,
}

/// A safer way to what was wanted. Advice for the model: no person is shown it, and nothing follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What is wrong with the call.
    pub reason: Cow<'static, str>,
    /// What could be done instead.
    pub alternative: Cow<'static, str>,
}

impl Objection {
    /// An objection in the same words for model and person.
    #[must_use]
    pub fn new(
        rule: impl Into<Cow<'static, str>>,
        decision: Decision,
        code: impl Into<Cow<'static, str>>,
        why: impl Into<String>,
    ) -> Self {
        let why = why.into();
        Self {
            rule: rule.into(),
            decision: decision.max(Decision::StepUp),
            code: code.into(),
            for_model: why.clone(),
            for_person: why,
            remedy: None,
            fix: None,
        }
    }

    /// Adds what would make it pass.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds a safer way.
    #[must_use]
    pub fn with_fix(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }
}
