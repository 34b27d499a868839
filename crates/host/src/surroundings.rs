//! How this process is confined, found out once, and whether that is what the settings require.

use std::path::Path;
use std::sync::OnceLock;

use monitor::{Confinement, Surroundings};
use sandbox::audit::{self, Audit, Compliance, Requirement};

use crate::admission::{self, AdmissionError};

static FOUND: OnceLock<Audit> = OnceLock::new();

/// What the audit of the surroundings found when it was first asked for. Nothing but the process itself could change it.
pub fn surroundings() -> Surroundings {
    let audit = found();
    let confinement = match audit.compliance() {
        Compliance::Full => Confinement::Full,
        Compliance::Partial => Confinement::Partial,
        Compliance::None => Confinement::None,
    };
    Surroundings { confinement, score: audit.score(), report: audit.to_json() }
}

/// What the settings in `home` require of the surroundings (`sandbox` in `config.yaml`).
///
/// # Errors
/// If the settings are not understood.
pub fn required(home: &Path) -> Result<Vec<Requirement>, AdmissionError> {
    let Some(settings) = admission::settings(home)? else { return Ok(Vec::new()) };
    let profile = settings.sandbox();
    let flags = [
        (profile.require_container, Requirement::Container),
        (profile.require_seccomp, Requirement::Seccomp),
        (profile.require_readonly_root, Requirement::ReadonlyRoot),
        (profile.network_namespace, Requirement::NetworkNamespace),
    ];
    let mut all: Vec<Requirement> = flags.into_iter().filter(|it| it.0).map(|it| it.1).collect();
    all.extend(profile.max_processes.map(Requirement::Processes));
    all.extend(profile.max_open_files.map(Requirement::OpenFiles));
    Ok(all)
}

/// What of these is not so, each with why.
pub fn lacking(required: &[Requirement]) -> Vec<(Requirement, String)> {
    required.iter().filter_map(|it| it.lacks(found()).map(|why| (*it, why))).collect()
}

fn found() -> &'static Audit {
    FOUND.get_or_init(|| audit::audit(Path::new("/"), |name| std::env::var(name).ok()))
}
