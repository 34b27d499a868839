//! Whose machine a host is.

use std::net::IpAddr;

use model::skill::Severity;
use scan::net::{Host, Rule, Target, exfiltration, is_carrier, is_tunnel};

use crate::stance::Stance;

/// Names that stand for any machine in examples (RFC 2606, RFC 6761) or for this one.
const EXAMPLES: &[&str] = &["example", "test", "invalid", "localhost", "local", "internal"];
/// Domains that are for examples.
const EXAMPLE_DOMAINS: &[&str] = &["example.com", "example.net", "example.org", "example.edu"];

/// A shorter part of a name says nothing of whose it is.
const LABEL_BYTES_MIN: usize = 3;
/// Parts that many names of hosts and of credentials have.
const COMMON_PARTS: &[&str] = &[
    "api", "key", "token", "secret", "password", "auth", "access", "client", "app", "user", "www",
    "account", "service",
];

/// Is it the name or the public address of a machine that somebody may have, and no placeholder?
pub(crate) fn is_somebodys(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    if let Ok(address) = host.parse::<IpAddr>() {
        return scan::net::vet(address).is_ok();
    }
    let plain = host.split(':').next().unwrap_or_default().trim_end_matches('.');
    let last = plain.rsplit('.').next().unwrap_or_default();
    let under = |domain: &&&str| plain == **domain || plain.ends_with(&format!(".{domain}"));
    plain.contains('.')
        && plain.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-'))
        && !EXAMPLES.contains(&last)
        && !EXAMPLE_DOMAINS.iter().any(|it| under(&it))
}

/// Returns the host of an address.
pub(crate) fn of_url(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Tells whether a credential is called like a host, and so is for it: `TAVILY_API_KEY` for `api.tavily.com`.
pub(crate) fn is_of(host: &str, credential: &str) -> bool {
    let says = |it: &&str| it.len() >= LABEL_BYTES_MIN && !COMMON_PARTS.contains(it);
    let domain = host.rsplit_once('.').map_or(host, |it| it.0);
    let name = credential.to_ascii_lowercase();
    let parts: Vec<&str> = name.split('_').filter(says).collect();
    domain
        .split(['.', '-'])
        .filter(says)
        .any(|label| parts.iter().any(|it| label.contains(it) || it.contains(label)))
}

/// Is it a machine from which nobody honest serves a program: an address without a name, a place for pastes, a tunnel?
pub(crate) fn is_suspect(host: &str) -> bool {
    let plain = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let is_public = plain.parse::<IpAddr>().is_ok_and(|it| scan::net::vet(it).is_ok());
    is_public || is_carrier(&plain) || is_tunnel(&plain)
}

/// What speaks against an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    program: Severity,
    document: Severity,
    pub(crate) why: String,
}

impl Sign {
    /// Returns how bad it is here.
    pub(crate) fn severity(&self, stance: Stance) -> Severity {
        match stance {
            Stance::Program => self.program,
            Stance::Document => self.document,
            Stance::Hidden => self.program.max(Severity::High),
        }
    }
}

fn sign(program: Severity, document: Severity, why: String) -> Sign {
    Sign { program, document, why }
}

/// Returns what speaks against a host.
pub(crate) fn judge(host: &str) -> Option<Sign> {
    let plain = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let is_public = plain.parse::<IpAddr>().is_ok_and(|it| scan::net::vet(it).is_ok());
    match () {
        () if is_carrier(&plain) => {
            let why = format!("`{plain}` shows anybody what is sent to it");
            Some(sign(Severity::High, Severity::Medium, why))
        }
        () if is_tunnel(&plain) => {
            let why = format!("`{plain}` is a tunnel to somebody's own machine");
            Some(sign(Severity::Medium, Severity::Low, why))
        }
        () if is_public => {
            let why = format!("`{plain}` is an address without a name");
            Some(sign(Severity::Medium, Severity::Low, why))
        }
        () => None,
    }
}

/// Returns what speaks against a URL.
pub(crate) fn judge_url(url: &str) -> Option<Sign> {
    let target = Target::parse(url).ok()?;
    let by_host = match target.host() {
        Host::Name(name) => judge(name),
        Host::Address(address) => judge(&address.to_string()),
    };
    let signs = exfiltration(&target).into_iter().map(|it| {
        // A hook with its key in it, or a place for pastes: somebody reads there, or says there what is to be done.
        let severity = if it.rule == Rule::ExfilHost { Severity::Medium } else { Severity::Low };
        sign(severity, severity, it.reason)
    });
    by_host.into_iter().chain(signs).max_by_key(|it| it.program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_nobodys() {
        for host in ["debug-tunnel.remote-debug.dev", "evil.com", "91.92.242.30", "Evil.COM:4444"] {
            assert!(is_somebodys(host), "{host}");
        }
        for host in [
            "ATTACKER_IP",
            "10.0.0.1",
            "localhost",
            "x.example.com",
            "a.test",
            "$HOST",
            "203.0.113.9",
            "",
        ] {
            assert!(!is_somebodys(host), "{host}");
        }
    }

    #[test]
    fn a_credential_is_for_the_host_that_it_is_called_like() {
        assert!(is_of("api.tavily.com", "TAVILY_API_KEY"));
        assert!(is_of("api.github.com", "GITHUB_TOKEN"));
        assert!(!is_of("api.evil.com", "API_KEY"));
        assert!(!is_of("collect.dev", "AWS_SECRET_ACCESS_KEY"));
        assert_eq!(of_url("https://u:p@Evil.com:8443/x?y"), Some("evil.com".to_owned()));
        assert_eq!(of_url("evil.com"), None);
    }

    #[test]
    fn collectors_are_worse_than_tunnels() {
        assert_eq!(
            judge_url("https://webhook.site/abc").map(|it| it.program),
            Some(Severity::High)
        );
        assert_eq!(
            judge_url("https://a1.ngrok-free.dev/cb").map(|it| it.program),
            Some(Severity::Medium)
        );
        assert_eq!(judge_url("https://api.weather.com/v1"), None);
    }
}
