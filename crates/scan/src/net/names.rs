//! Names that lead inside, whatever they resolve to.

use super::Refused;
use super::lists::{Class, classes};
use super::wildcard;
use crate::net::Rule;

/// Names of the places where clouds keep credentials for whoever asks from inside.
pub(super) const METADATA: &[&str] = &[
    "api.metadata.cloud.ibm.com",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
];
/// Domains that are only ever inside, or of this machine. From RFC 6761, RFC 6762, RFC 8375, and custom.
pub(super) const INSIDE: &[&str] = &[
    "arpa",
    "consul",
    "corp",
    "docker",
    "home",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
    "svc",
    "workgroup",
];
/// Names that anybody may own, and that lead to this machine, to wherever their first part says, or now
/// here and now there.
pub(super) const LEADS_INSIDE: &[&str] = &[
    "127-0-0-1.org.uk",
    "1u.ms",
    "42foo.com",
    "bugbounty.dod.network",
    "ddev.site",
    "fuf.me",
    "lacolhost.com",
    "lcl.host",
    "lndo.site",
    "local.gd",
    "localdomain.pw",
    "localh.st",
    "localho.st",
    "localhost.direct",
    "localhost.domaincontrol.com",
    "localtest.me",
    "lock.cmpxchg8b.com",
    "lvh.me",
    "mail.ebc.apple.com",
    "r3dir.me",
    "ratchetlocal.com",
    "rbndr.us",
    "rebind.it",
    "rebind.network",
    "smackaho.st",
    "spoofed.burpcollaborator.net",
    "ulh.us",
    "vcap.me",
];

/// Does a name lead inside by what it is, whatever it resolves to? In ASCII, in small letters, without a last
/// dot.
#[must_use]
pub fn leads_inside(name: &str) -> bool {
    vet_name(name).is_err()
}

/// Is it the name of a place where a cloud keeps credentials, or under one?
#[must_use]
pub fn is_metadata(name: &str) -> bool {
    classes(name).any(|it| it.0 == Class::Metadata)
}

/// Refuses names that lead inside by what they are. `name` is in ASCII, in small letters, without a last dot.
pub(super) fn vet_name(name: &str) -> Result<(), Refused> {
    let refused = |rule, why| Err(Refused::new(rule, format!("`{name}` {why}")));
    for (class, domain) in classes(name) {
        match class {
            Class::Metadata => {
                return refused(Rule::NameMetadata, "is where clouds keep credentials");
            }
            Class::Inside if name != domain => {
                return refused(Rule::NameInside, "is a name of the inner network");
            }
            Class::LeadsInside => {
                let why = "is made to lead to this machine or to wherever it says";
                return refused(Rule::NameLeadsInside, why);
            }
            Class::Wildcard => wildcard::vet_name(name, domain)?,
            Class::Inside | Class::Carrier | Class::Tunnel | Class::Drop => {}
        }
    }
    if !name.contains('.') {
        let why = "has no domain: it is a name of the inner network";
        return refused(Rule::NameSingle, why);
    }
    Ok(())
}
