//! Secrets: kept encrypted, revealed to who holds a permit, for the hosts that they are for, and taken out of
//! whatever goes back to an agent.
//!
//! INVARIANT (SecretsDoNotPrint): a [`Secret`] has no `Debug`, `Display`, `Clone` or `Serialize`, and its bytes are
//! wiped when it is dropped. Records hold names.

pub mod access;
mod command;
mod contents;
pub mod environment;
mod file;
mod guess;
mod guesses;
mod hybrid;
mod keeper;
mod key;
pub mod keyring;
mod name;
pub mod plugin;
mod prompts;
mod resolve_error;
mod scope;
mod scrub;
pub mod sealed;
mod secret;
mod server;
pub mod shape;
mod source;
mod terminal;
mod unlock;
mod unreadable;

pub use contents::{Contents, ContentsError, ENTRIES_MAX, Entry, HOSTS_MAX, VERSIONS_MAX, Version};
pub use file::{Held, VaultError, VaultFile};
pub use guess::GUESSABLE_BITS;
pub use guesses::{NEAR_MISSES_MAX, SHAPED_MAX};
pub use keeper::{Keeper, Want};
pub use key::{Key, KeyError, PASSPHRASE_BYTES_MIN};
pub use name::{Category, NAME_BYTES_MAX, Name, NameError};
pub use resolve_error::ResolveError;
pub use scope::Scope;
pub use scrub::Scrub;
pub use secret::{SECRET_BYTES_MAX, SECRET_BYTES_MIN, Secret, SecretError};
pub use source::{HOSTS_PREFIX, SECRET_PREFIX, Skipped, Source, of_env};
pub use terminal::Terminal;
pub use unlock::unlock;
pub use unreadable::FileFault;
