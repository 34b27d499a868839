//! The rules of the state directory, for a server that runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::serve::{NewRules, Rules};
use evidence::Receipt;
use monitor::Monitor;
use monitor::provenance::Catalogue;
use policy::{Policy, RuleChange};

use crate::gate::setup::{self, Gate};

/// Reads them, and compares them with those by which the gate decides.
pub(super) struct OfHome {
    monitor: Arc<Monitor>,
    home: PathBuf,
}

impl OfHome {
    pub(super) fn new(gate: &Gate, home: &Path) -> Self {
        Self { monitor: Arc::clone(&gate.monitor), home: home.to_owned() }
    }
}

/// Rules that were read.
struct Read {
    monitor: Arc<Monitor>,
    policy: Policy,
    catalogue: Catalogue,
}

impl Rules for OfHome {
    fn read(&self) -> Result<Box<dyn NewRules>, String> {
        let read = setup::rules_of(&self.home, None).map_err(|it| it.message().to_owned())?;
        Ok(Box::new(Read { monitor: Arc::clone(&self.monitor), policy: read.0, catalogue: read.1 }))
    }
}

impl NewRules for Read {
    fn changes(&self) -> Vec<RuleChange> {
        let mut changes = self.monitor.policy().changes_to(&self.policy);
        if *self.monitor.catalogue() != self.catalogue {
            // Which of two protects more depends on what is called.
            let (id, what) = ("catalogue.json".to_owned(), "changed");
            changes.push(RuleChange { id, what, is_weaker: true });
        }
        changes
    }

    fn apply(self: Box<Self>, receipt: &Receipt) {
        let Self { monitor, policy, catalogue } = *self;
        monitor.know_tools_by(catalogue, receipt);
        monitor.decide_by(policy, receipt);
    }
}
