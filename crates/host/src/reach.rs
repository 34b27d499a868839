//! What an agent may reach of the public network, by the files that admitted its session.

use egress::Rules;
use monitor::Admission;
use scan::net::{DomainError, Domains};

/// The rules for a session that was admitted by `admission`: what the host's settings and the agent's
/// manifest both allow.
///
/// # Errors
/// If a domain is none. Then there is no session: no list is no open list.
pub fn reach(admission: &Admission) -> Result<Rules, DomainError> {
    let Admission::Layered { global, manifest, .. } = admission else {
        return Ok(Rules::default());
    };
    let host = global.egress();
    let lists = [&host.allowed_domains, &manifest.sandbox.allowed_domains];
    let allow =
        lists.into_iter().flatten().map(|it| Domains::parse(it)).collect::<Result<_, _>>()?;
    let block = Domains::parse(host.blocked_domains.as_deref().unwrap_or_default())?;
    Ok(Rules { allow, block, ports: host.ports.clone(), ..Rules::default() })
}
