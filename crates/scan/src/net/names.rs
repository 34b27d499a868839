//! Names that lead inside, whatever they resolve to.

use super::Refused;

/// Names of the places where clouds keep credentials for whoever asks from inside.
const METADATA: &[&str] = &[
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.tencentyun.com",
];
/// Domains that are only ever inside, or of this machine. From RFC 6761, RFC 6762, RFC 8375, and custom.
const INSIDE: &[&str] = &[
    "arpa",
    "corp",
    "home",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
];
/// Names that anybody may own, and that lead to this machine or wherever their first part says.
const LEADS_INSIDE: &[&str] = &[
    "1u.ms",
    "lacolhost.com",
    "localh.st",
    "localtest.me",
    "lvh.me",
    "r3dir.me",
    "rbndr.us",
    "vcap.me",
];

/// Refuses names that lead inside by what they are. `name` is in ASCII, in small letters, without a last dot.
pub(super) fn vet_name(name: &str) -> Result<(), Refused> {
    if METADATA.contains(&name) {
        return Err(Refused::new(
            "net-name-metadata",
            format!("`{name}` is where clouds keep credentials"),
        ));
    }
    if !name.contains('.') {
        return Err(Refused::new(
            "net-name-single",
            format!("`{name}` has no domain: it is a name of the inner network"),
        ));
    }
    if is_under(name, INSIDE) {
        return Err(Refused::new(
            "net-name-inside",
            format!("`{name}` is a name of the inner network"),
        ));
    }
    if is_under(name, LEADS_INSIDE) {
        return Err(Refused::new(
            "net-name-leads-inside",
            format!("`{name}` is made to lead to this machine or to wherever it says"),
        ));
    }
    Ok(())
}

/// Is `name` one of `domains`, or within one?
pub(super) fn is_under(name: &str, domains: &[&str]) -> bool {
    domains
        .iter()
        .any(|it| name.strip_suffix(it).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}
