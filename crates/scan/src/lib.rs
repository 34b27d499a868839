//! Text in, findings out. No I/O, no sessions, no decisions.

mod allow;
pub mod boundary;
pub mod conversation;
mod fold;
pub mod leak;
pub mod net;
pub mod page;
mod phrases;
pub mod pii;
pub mod secret;
pub mod text;
pub mod tool;

pub use allow::{AllowError, Allowed};
pub use fold::{is_invisible, look_alike};
