//! What a verdict on an older format does not say.

use super::recipe::Recipe;
use crate::archive::Rules;

/// What the notes depend on.
pub(crate) struct Facts {
    pub(crate) recipe: Recipe,
    pub(crate) rules: Rules,
    pub(crate) records: u64,
    pub(crate) entries: u64,
    pub(crate) filtered: bool,
    /// Audit entries about records that the filters left out.
    pub(crate) left_out: u64,
    pub(crate) unpinned: u64,
}

pub(crate) fn notes(facts: &Facts) -> Vec<String> {
    let mut notes = vec![match facts.recipe {
        Recipe::Aer => "AER 0.1 hashes the payload and the meta of a record only: its type, \
                        principal, taint and parents may have been edited by anybody; strict \
                        verification sees it only where a guard's decision in the payload repeats \
                        type, principal or taint"
            .to_owned(),
        Recipe::Unified => "the unified format hashes times of records cut to seconds: their \
                            fractions may have been edited by anybody"
            .to_owned(),
    }];
    notes.push(
        "no hash covers manifest.json, policy.yaml, report.md and report.json, and nothing commits \
         to the end of the audit log: records and entries cut off the end of both, with the counts \
         adjusted, leave no trace"
            .to_owned(),
    );
    if facts.rules == Rules::Compat {
        notes.push(
            "the format's own rules neither demand the files of a bundle nor hold the records \
             against the audit log; verify without --compat"
                .to_owned(),
        );
    }
    if facts.records == 0 && facts.entries == 0 {
        notes.push("the bundle holds no record: nothing was verified".to_owned());
    }
    if facts.filtered {
        notes.push(format!(
            "the manifest says that the export was filtered: {} audit entries are about records \
             that are not here, and that only the filtered ones are missing cannot be known",
            facts.left_out
        ));
    }
    if facts.unpinned > 0 {
        notes.push(format!(
            "{} records hold text that is not in Unicode normal form C, or -0.0: by the format's \
             design their ids pin the meaning, not every byte",
            facts.unpinned
        ));
    }
    notes
}
