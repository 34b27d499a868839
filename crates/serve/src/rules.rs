//! Rules of the operator's own, read again while the server runs: what becomes weaker is on record first, and a person is told.

use evidence::Receipt;
use policy::RuleChange;
use serde_json::{Value, json};

use crate::app::App;
use crate::changes::{self, Change};
use crate::holdback::clean;
use crate::log::{About, Event};

/// Whoever can read the rules again.
pub trait Rules: Send + Sync {
    /// Reads them whole; nothing counts yet.
    ///
    /// # Errors
    /// If they do not load.
    fn read(&self) -> Result<Box<dyn NewRules>, String>;
}

/// Rules that were read, and do not count yet.
pub trait NewRules {
    /// What is different from those that count.
    fn changes(&self) -> Vec<RuleChange>;

    /// They count from now on, as the receipt proves that it is on record.
    fn apply(self: Box<Self>, receipt: &Receipt);
}

/// Reads the rules again, if somebody can, and has the gate decide by them. Gives what is different.
///
/// INVARIANT (NothingSilent), INVARIANT (RecordThenAct).
///
/// # Errors
/// If they do not load, or it cannot be recorded: then the old ones hold.
pub(crate) fn again(app: &App, files: Value) -> Result<Vec<Change>, String> {
    let Some(rules) = app.rules.get() else { return Ok(Vec::new()) };
    let new =
        rules.read().map_err(|why| clean(&why)).inspect_err(|why| refused(app, why, &files))?;
    let changes = new.changes();
    let changes: Vec<Change> = changes.iter().map(named).collect();
    if changes.is_empty() {
        return Ok(changes);
    }
    let weaker = changes::of(&changes, true);
    let mut content = json!({ "files": files, "changes": changes::to_json(&changes) });
    if let (false, Some(fields)) = (weaker.is_empty(), content.as_object_mut()) {
        fields.insert("alert".to_owned(), "rules that may protect less were read".into());
        fields.insert("severity".to_owned(), "HIGH".into());
        fields.insert("what".to_owned(), weaker.join("; ").into());
    }
    let receipt = app.record("policy_reloaded", content).map_err(|error| error.to_string())?;
    new.apply(&receipt);
    let others = changes.len() - changes.iter().filter(|it| it.is_weaker).count();
    let details = json!({ "weaker": changes.len() - others, "changed": others, "of": "policy" });
    app.log(Event::ConfigReloaded, About::default(), details);
    Ok(changes)
}

fn named(it: &RuleChange) -> Change {
    Change { what: format!("the rule {} {}", it.id, it.what), is_weaker: it.is_weaker }
}

fn refused(app: &App, why: &str, files: &Value) {
    let content = json!({
        "alert": "the rules do not load",
        "severity": "MEDIUM",
        "what": why,
        "next": "lazaret policy check",
        "files": files,
        "stays": "as it was",
    });
    // They stay as they were either way.
    let _ = app.record("policy_refused", content);
    app.log(Event::ReloadFailed, About::default(), json!({ "why": why, "of": "policy" }));
}
