//! Layer 1: the host's settings switch whole domains off, for every agent and user.

use model::Objection;

use super::{deny, shown};
use crate::access::{Domain, Global, Layer, Request};

pub(in crate::access) fn check(global: &Global, request: &Request<'_>) -> Result<(), Objection> {
    let off = |it: &&Domain| request.tool.resembles(**it) && !global.is_enabled(**it);
    match Domain::ALL.iter().find(off) {
        None => Ok(()),
        Some(domain) => {
            let why = format!(
                "`{}` belongs to {}, which is switched off on this host",
                shown(request.tool.name()),
                domain.as_str()
            );
            Err(deny(Layer::Global, "domain_off", why, "have the operator switch the domain on"))
        }
    }
}
