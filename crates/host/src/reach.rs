//! What an agent may reach of the public network, by the files that admitted its session.

use egress::Rules;
use monitor::Admission;
use monitor::target::Reach;
use scan::net::DomainError;

/// The rules of the way out for a session that was admitted by `admission`. The gate judges by the same lists.
///
/// # Errors
/// If a domain is none. Then there is no session.
pub fn reach(admission: &Admission) -> Result<Rules, DomainError> {
    let Reach { allow, block } = Reach::of(admission)?;
    let ports = match admission {
        Admission::OnePerson => None,
        Admission::Layered { global, .. } => global.egress().ports.clone(),
    };
    Ok(Rules { allow, block, ports, ..Rules::default() })
}
