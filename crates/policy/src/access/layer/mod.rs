//! The layers, one file each, all of one shape: nothing against the call, or one objection.

mod agent;
mod global;
mod operation;
mod sandbox;
mod user;

pub(super) use agent::check as agent;
pub(super) use global::check as global;
pub(super) use operation::{check as operation, is_plain};
pub(super) use sandbox::check as sandbox;
pub(super) use user::check as user;

use model::{Decision, Objection};

use super::Layer;

/// A denial by a layer. Layers never ask: what they close is closed.
fn deny(layer: Layer, code: &'static str, why: String, remedy: &str) -> Objection {
    Objection::new(layer.rule(), Decision::Deny, code, why).with_remedy(remedy)
}

/// A name for a message: escaped, whoever chose it.
fn shown(name: &str) -> String {
    name.chars().take(100).collect::<String>().escape_debug().to_string()
}
