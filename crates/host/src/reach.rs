//! What an agent may reach of the public network, by the files that admitted its session.

use egress::Rules;
use monitor::Admission;
use scan::net::{DomainError, Domains};

/// The rules for a session that was admitted by `admission`.
///
/// # Errors
/// If the manifest names a domain that is none. Then there is no session: no list is no open list.
pub fn reach(admission: &Admission) -> Result<Rules, DomainError> {
    let allowed = match admission {
        Admission::OnePerson => None,
        Admission::Layered { manifest, .. } => manifest.sandbox.allowed_domains.as_ref(),
    };
    let allow = allowed.map(|it| Domains::parse(it)).transpose()?;
    Ok(Rules { allow, ..Rules::default() })
}
