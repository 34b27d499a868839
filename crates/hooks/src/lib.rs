//! The hooks of coding agents: what each host says, and what each really obeys.
//!
//! One table per host ([`dialect`]) names its events and the form of every answer; [`read`] turns the
//! host's JSON into a [`Seen`], [`answer`] turns a [`Reply`] into what the program must print. Which
//! answers a host obeys was measured on real clients (Claude Code 2.1.325, Codex 0.166.0, Gemini CLI
//! 0.61.0, Copilot CLI 1.0.102, OpenCode 1.18.33); Cursor is by its documentation. Where a form is not
//! known to hold, the stricter one is taken: `ask` where asking lets the call run becomes a denial.
//!
//! **Invariant**: this crate does no I/O and decides nothing.

mod answer;
mod dialect;
mod event;
mod fields;
mod host;
mod instructions;
mod mcp_name;
mod read;
mod reply;
mod reshape;
mod result_text;
mod speaker;
mod template;
mod tools;

pub use answer::{TEXT_CHARS_MAX, answer};
pub use dialect::{Dialect, Kind, dialect};
pub use event::{Event, McpTool, Seen, ToolUse};
pub use fields::{ID_BYTES_MAX, NAME_BYTES_MAX};
pub use host::Host;
pub use instructions::Instructions;
pub use read::{DEPTH_MAX, INPUT_BYTES_MAX, ReadError, read};
pub use reply::{Answer, Reply};
pub use speaker::Speaker;
pub use tools::{definition, tools};
