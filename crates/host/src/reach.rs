//! What an agent may reach of the public network, and of the inner one where the operator opened it, by the files that
//! admitted its session.

use egress::Rules;
use monitor::Admission;
use monitor::target::Reach;
use scan::net::DomainError;

/// The rules of the way out for a session that was admitted by `admission`. The gate judges by the same lists.
///
/// # Errors
/// If a domain is none. Then there is no session.
pub fn reach(admission: &Admission) -> Result<Rules, DomainError> {
    let Reach { allow, block, inner, flags } = Reach::of(admission)?;
    let rules = Rules { allow, block, inner, flags, ..Rules::default() };
    let settings = match admission {
        Admission::OnePerson => return Ok(rules),
        Admission::Layered { global, .. } => global.egress(),
    };
    // What the settings let through is a method: they are read strictly.
    let methods = |all: &Vec<String>| all.iter().filter_map(|it| it.parse().ok()).collect();
    Ok(Rules {
        ports: settings.ports.clone(),
        methods: settings.methods.as_ref().map(methods),
        payload_bytes_max: settings.payload_bytes.unwrap_or(rules.payload_bytes_max),
        ..rules
    })
}
