//! Plugins: folders of somebody else's code that a person put here, and what they were like then.
//!
//! INVARIANT (KnownByDigest): a plugin counts as there only if every file of it is as it was when a person
//! added it. The digests lie outside of the folders, so that no plugin can vouch for itself; a folder
//! without a digest, a digest that does not match, and a list that cannot be read are all refusals, and
//! there is no other mode. Nothing is remembered from one check to the next.
//!
//! Nothing here runs a plugin: a plugin that declares tools is run by the executor, in a cage, for one call at a time.

mod copy;
mod error;
mod inventory;
mod manifest;
mod registry;
mod run;
mod tools;

use std::path::Path;

use aegx::{Digest, RecordType};
use evidence::{AppendError, Journal, NewRecord};
use model::Kind;
use serde_json::json;

pub use error::PluginError;
pub use inventory::{Inventory, PLUGIN_BYTES_MAX, PLUGIN_FILES_MAX, Unfit};
pub use manifest::{Capabilities, FileAccess, MANIFEST, Manifest, ManifestError};
pub use registry::{Entry, Plugins, Prepared};
pub use run::{RunCopy, sweep};
pub use tools::{PLUGIN_TOOLS_MAX, PluginTool};

/// What a check of all plugins found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Those that are as they were.
    pub sound: Vec<Entry>,
    /// The others, with what is wrong.
    pub refused: Vec<Refused>,
    /// What each of those that are as they were says of itself.
    pub offered: Vec<Offered>,
}

/// A plugin as it was when it was looked at: whoever runs it runs this.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The digest of everything in its folder.
    pub digest: Digest,
    /// What it says of itself.
    pub manifest: Manifest,
}

/// A plugin that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name, or that of its folder.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

/// Checks all plugins of the state directory `home`, at a start and whenever they are to be loaded anew.
/// What is refused is recorded.
///
/// # Errors
/// If that cannot be recorded.
pub fn check(home: &Path, journal: &Journal) -> Result<Checked, AppendError> {
    let checked = Plugins::new(home).check();
    for it in &checked.refused {
        let content = json!({ "decision": "deny", "plugin": it.name, "error": it.why });
        let kind = Kind::of_static("plugin_refused");
        journal.append(NewRecord::of_host(RecordType::GuardDecision, kind, content))?;
    }
    Ok(checked)
}
