//! Text in, findings out. No I/O, no sessions, no decisions.

mod allow;
pub mod boundary;
pub mod conversation;
mod decode;
pub mod exfiltration;
mod fold;
mod keys;
pub mod leak;
pub mod net;
pub mod page;
mod phrases;
pub mod pii;
pub mod sanitize;
pub mod secret;
mod shown;
pub mod text;
pub mod tool;

pub use allow::{AllowError, Allowed};
pub use fold::{is_invisible, look_alike};
