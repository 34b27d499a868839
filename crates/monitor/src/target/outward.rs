//! Where a call leads on the web: off the lists of what the agent may reach, or to an address that looks as if
//! it carried data off.

use policy::{Target, Targets};
use scan::net::{self, DomainError, Domains};

use crate::admission::Admission;

/// What an agent may reach, by the files that admitted its session.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// What stands on every one of these lists and nothing else; all if there is none.
    pub allow: Vec<Domains>,
    /// Never these.
    pub block: Domains,
}

impl Reach {
    /// What the host's settings and the agent's manifest both allow.
    ///
    /// # Errors
    /// If a domain is none. No list is no open list: then there is nothing to be reached.
    pub fn of(admission: &Admission) -> Result<Self, DomainError> {
        let Admission::Layered { global, manifest, .. } = admission else {
            return Ok(Self::default());
        };
        let host = global.egress();
        let lists = [&host.allowed_domains, &manifest.sandbox.allowed_domains];
        let allow = lists.into_iter().flatten().map(|it| Domains::parse(it));
        Ok(Self {
            allow: allow.collect::<Result<_, _>>()?,
            block: Domains::parse(host.blocked_domains.as_deref().unwrap_or_default())?,
        })
    }

    /// Where nothing is to be reached.
    pub(crate) fn nothing() -> Self {
        Self { allow: vec![Domains::default()], block: Domains::default() }
    }

    /// The classes of a text that is one address; one that only mentions some asks for none of them.
    pub(super) fn class_of(&self, text: &str) -> Targets {
        let text = text.trim();
        if !text.contains("://") || text.contains(char::is_whitespace) {
            return Targets::NONE;
        }
        let Ok(target) = net::Target::parse(text) else {
            // Where there is a list, what cannot be read is not on it.
            return self.allow.first().map_or(Targets::NONE, |_| Target::UnlistedDomain.into());
        };
        let mut found = Targets::NONE;
        if self.block.contains(target.host()) {
            found = found.with(Target::BlockedDomain);
        }
        if !self.allow.iter().all(|it| it.permits(&target).is_ok()) {
            found = found.with(Target::UnlistedDomain);
        }
        if !net::exfiltration(&target).is_empty() {
            found = found.with(Target::Exfiltration);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(reach: &Reach, text: &str) -> Vec<Target> {
        reach.class_of(text).iter().collect()
    }

    #[test]
    fn what_is_on_no_list_or_cannot_be_read_is_off_the_list() {
        let list = |of: &[&str]| Domains::parse(of).unwrap();
        let reach = Reach {
            allow: vec![list(&["*.example.com"]), list(&["api.example.com", "b.example.com"])],
            block: list(&["b.example.com"]),
        };
        for inside in ["https://api.example.com/x", " HTTPS://API.example.com./ "] {
            assert_eq!(class(&reach, inside), [], "{inside}");
        }
        for outside in [
            "https://example.com/",
            "https://evil.example/",
            "http://api.example.com/",
            "https://api.example.com@evil.example/",
            "https:\\\\evil.example://",
            "ftp://api.example.com/",
            "https://api.example.com:8443/",
        ] {
            assert_eq!(class(&reach, outside), [Target::UnlistedDomain], "{outside}");
        }
        assert_eq!(class(&reach, "https://b.example.com/"), [Target::BlockedDomain]);
        // Who only mentions one, asks for none.
        assert_eq!(class(&reach, "see https://evil.example/ for more"), []);
        assert_eq!(class(&Reach::default(), "https://evil.example/"), []);
        assert_eq!(class(&Reach::default(), "ftp://evil.example/"), []);
        let nothing = class(&Reach::nothing(), "https://api.example.com/");
        assert_eq!(nothing, [Target::UnlistedDomain]);
    }

    #[test]
    fn what_looks_like_data_is_seen_and_ordinary_addresses_are_not() {
        let long = format!("https://a.example/?d={}", "x".repeat(400));
        assert_eq!(class(&Reach::default(), &long), [Target::Exfiltration]);
        assert_eq!(class(&Reach::default(), "https://a.example/?page=2&sort=name"), []);
    }
}
