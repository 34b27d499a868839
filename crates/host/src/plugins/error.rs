//! Why a plugin was not added, found, run or removed.

use super::inventory::Unfit;
use super::manifest::ManifestError;
use super::registry::PLUGINS_MAX;

/// Why a plugin was not added, found or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// What it says of itself.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// What is in its folder.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// No manifest, or its beginning is not there.
    #[error("there is no `{0}` in the folder")]
    Missing(String),
    /// It claims to be what the program has.
    #[error("`{kind} {name}` is built in: no plugin takes its place")]
    BuiltIn {
        /// The kind of provider.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// One of that name is there.
    #[error("there is a plugin `{0}`; remove it first")]
    There(String),
    /// None of that name is there.
    #[error("there is no plugin `{0}`")]
    NotThere(String),
    /// As many as there may be.
    #[error("there are {PLUGINS_MAX} plugins, which is the most")]
    Full,
    /// Another plugin offers tools under the same name.
    #[error("the plugin `{by}` offers tools as `{name}` already: no two share a name")]
    Taken {
        /// The name.
        name: String,
        /// The other plugin.
        by: String,
    },
    /// Its beginning cannot be started.
    #[error("`{0}` is not executable, and a plugin with tools is started by it")]
    NotExecutable(String),
    /// It is not what a person added.
    #[error("{0}")]
    Unsound(String),
    /// It changed between the look and the copy.
    #[error("the folder changed while it was copied; nothing was added")]
    Changed,
    /// The list.
    #[error("`{path}`: {why}")]
    List {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        why: String,
    },
}

impl PluginError {
    /// Is it about the plugin, and not about the machine?
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Unfit(Unfit::Io { .. }) | Self::List { .. } => false,
            Self::Manifest(_)
            | Self::Unfit(_)
            | Self::Missing(_)
            | Self::BuiltIn { .. }
            | Self::There(_)
            | Self::NotThere(_)
            | Self::Full
            | Self::Taken { .. }
            | Self::NotExecutable(_)
            | Self::Unsound(_)
            | Self::Changed => true,
        }
    }
}
