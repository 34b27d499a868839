//! A process that shuts itself in by landlock: programs and libraries to read, one directory to write, nothing else.
//!
//! `cargo run -p sandbox --example landlock_policy -- DIR` confines itself to DIR and says what it can still do.
//! It needs Linux 5.13; what an older kernel does not know is said and not passed over.

use std::io::{self, Write as _};
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus,
};

/// What programs need to start.
const SYSTEM: &[&str] = &["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"];

/// Confines the calling thread, and every process that it starts from now on. There is no way back.
///
/// # Errors
/// If the kernel refuses, or `writable` is not there.
pub(crate) fn confine(writable: &Path) -> Result<RulesetStatus, RulesetError> {
    let abi = ABI::V3;
    let read = AccessFs::from_read(abi);
    let rules = Ruleset::default()
        // What the kernel does not know is left out, and the status says so.
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .create()?;
    let mut rules = rules;
    for path in SYSTEM {
        // A directory that this system does not have needs no rule.
        let Ok(opened) = PathFd::new(path) else { continue };
        let allowed = if Path::new(path).is_dir() { read } else { read & AccessFs::from_file(abi) };
        rules = rules.add_rule(PathBeneath::new(opened, allowed))?;
    }
    let everything: BitFlags<AccessFs> = AccessFs::from_all(abi);
    let rules = match PathFd::new(writable) {
        Ok(opened) => rules.add_rule(PathBeneath::new(opened, everything))?,
        Err(_) => rules,
    };
    // Sets no-new-privileges, too: otherwise a setuid program would be a way out.
    Ok(rules.restrict_self()?.ruleset)
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Some(dir) = std::env::args_os().nth(1) else {
        return writeln!(out, "which directory may be written?");
    };
    match confine(Path::new(&dir)) {
        Ok(status) => writeln!(out, "confined: {status:?}")?,
        Err(error) => return Err(io::Error::other(error)),
    }
    for path in ["/usr", "/etc/hostname", "/home"] {
        let seen = std::fs::File::open(path).map(|_| "can be opened");
        writeln!(out, "{path}: {}", seen.map_or_else(|error| error.to_string(), str::to_owned))?;
    }
    Ok(())
}
