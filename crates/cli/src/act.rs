//! What a person does with the state directory: their word is in the journal before anything changes.

use aegx::{Principal, RecordType};
use evidence::{Config, Journal, NewRecord, Receipt};
use model::{Kind, Taint, UserId};
use serde_json::{Value, json};

use crate::evidence::open;
use crate::home::Home;
use crate::run::Failure;

/// Who does it, and why.
#[derive(clap::Args)]
pub(crate) struct By {
    /// Who you are.
    #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true)]
    by: String,
}

impl By {
    pub(crate) fn user(&self) -> Result<UserId, Failure> {
        UserId::parse(&self.by).map_err(|error| Failure::usage(format!("--by: {error}")))
    }
}

/// An act that was recorded and is about to be done.
pub(crate) struct Act {
    pub(crate) journal: Journal,
    pub(crate) receipt: Receipt,
}

impl Act {
    /// Records a person's word.
    ///
    /// INVARIANT (RecordThenAct): whoever does it wants the receipt.
    pub(crate) fn begin(
        home: &Home,
        kind: &'static str,
        by: &UserId,
        taint: Taint,
        mut content: Value,
    ) -> Result<Self, Failure> {
        if let Some(fields) = content.as_object_mut() {
            fields.insert("by".to_owned(), json!(by.as_str()));
        }
        let journal = open::writer(&Config::new(home.journal()?))?;
        let record = NewRecord {
            principal: Principal::User,
            taint,
            ..NewRecord::of_host(
                RecordType::ControlPlaneChangeRequest,
                Kind::of_static(kind),
                content,
            )
        };
        let receipt = journal.append(record).map_err(Failure::unable)?;
        Ok(Self { journal, receipt })
    }

    /// Ends it. What came to nothing is on record as well.
    pub(crate) fn end<T>(
        self,
        done: Result<T, Failure>,
        failed: &'static str,
    ) -> Result<(T, String), Failure> {
        let Self { journal, receipt } = self;
        if let Err(failure) = &done {
            let content = json!({ "error": failure.message() });
            let record = NewRecord {
                parents: vec![receipt.id()],
                ..NewRecord::of_host(
                    RecordType::ControlPlaneChangeRequest,
                    Kind::of_static(failed),
                    content,
                )
            };
            journal.append(record).map_err(Failure::unable)?;
        }
        journal.close().map_err(Failure::unable)?;
        done.map(|it| (it, receipt.id().to_string()))
    }
}
