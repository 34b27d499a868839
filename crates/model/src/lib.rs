//! The nouns that every part of Lazaret shares, each parsed once into a form that cannot be wrong.
//!
//! No I/O, no clock, no async. [`ipc`] alone knows JSON: what is read there is a noun afterwards.

mod call;
mod decision;
mod effect;
mod flow;
pub mod ipc;
mod name;
mod objection;
pub mod places;
mod profile;
pub mod provider;
mod source;
mod tag;
mod taint;
mod texts;
mod tool;

pub use call::{ARGS_BYTES_MAX, Call, CallError, Caller, RawCall, ToolName};
pub use decision::Decision;
pub use effect::{Effect, EffectKind, ToolCall};
pub use flow::{Flow, Reach, Role, Trust};
pub use name::{AgentId, Kind, NAME_BYTES_MAX, NameError, SessionId, UserId};
pub use objection::Objection;
pub use profile::{Profile, UnknownProfile};
pub use source::{Source, UnknownSource};
pub use tag::TaintTag;
pub use taint::{Taint, UnknownFlag};
pub use texts::{replace_texts, replace_texts_of};
pub use tool::{TOOL_DESCRIPTION_BYTES_MAX, TOOLS_MAX, ToolDef, ToolError};
