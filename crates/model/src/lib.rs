//! The nouns that every part of Lazaret shares, each parsed once into a form that cannot be wrong.
//!
//! No I/O, no clock, no async. [`ipc`] alone knows JSON: what is read there is a noun afterwards.

mod call;
mod decision;
mod domain;
mod effect;
mod flow;
mod group;
mod host_deed;
mod intent;
pub mod ipc;
mod kind;
mod name;
mod objection;
pub mod places;
mod profile;
pub mod provider;
mod rule;
pub mod skill;
mod source;
mod surface;
mod tag;
mod taint;
mod texts;
mod tool;
mod wire;

pub use call::{ARGS_BYTES_MAX, Call, CallError, Caller, RawCall, ToolName};
pub use decision::Decision;
pub use domain::Domain;
pub use effect::{Effect, Message, ToolCall};
pub use flow::{Flow, Reach, Role, Shows, Trust};
pub use group::Group;
pub use host_deed::{HostDeed, HostKind};
pub use intent::{Intent, IntentReader, ToolText};
pub use kind::{EffectKind, Recorded, Risk};
pub use name::{AgentId, Kind, NAME_BYTES_MAX, NameError, SessionId, UserId};
pub use objection::{Fix, Objection};
pub use profile::{Profile, UnknownProfile};
pub use source::{Source, UnknownSource};
pub use surface::Surface;
pub use tag::TaintTag;
pub use taint::{Taint, UnknownFlag};
pub use texts::{replace_texts, replace_texts_of};
pub use tool::{TOOL_DESCRIPTION_BYTES_MAX, TOOLS_MAX, ToolDef, ToolError};
pub use wire::WireError;
