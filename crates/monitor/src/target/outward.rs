//! Where a call leads on the web: off the lists of what the agent may reach, or to an address that looks as if
//! it carried data off.

use std::borrow::Cow;

use policy::access::{Glob, flagged};
use policy::{Target, Targets};
use scan::net::{self, DomainError, Domains, Inner};

use crate::admission::Admission;

/// Behind these comes a host.
const WEB: &[&str] = &["http", "https"];

/// What an agent may reach, by the files that admitted its session.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// What stands on every one of these lists and nothing else; all if there is none.
    pub allow: Vec<Domains>,
    /// Never these.
    pub block: Domains,
    /// Hosts of the inner network that the operator has opened.
    pub inner: Inner,
    /// What an address that carries data off looks like, beside what is known of it.
    pub flags: Vec<Glob>,
}

impl Reach {
    /// What the host's settings and the agent's manifest both allow, and neither of them blocks.
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
        let block = [&host.blocked_domains, &manifest.sandbox.blocked_domains];
        let block: Vec<&String> = block.into_iter().flatten().flatten().collect();
        let (allow, block) = (allow.collect::<Result<_, _>>()?, Domains::parse(&block)?);
        Ok(Self { allow, block, inner: host.inner.clone(), flags: host.flag_patterns.clone() })
    }

    /// Where nothing is to be reached.
    pub(crate) fn nothing() -> Self {
        Self { allow: vec![Domains::default()], ..Self::default() }
    }

    /// The classes of a text that is one address; one that only mentions some asks for none of them. What
    /// `is_destination` is an address without its scheme as well.
    pub(super) fn class_of(&self, text: &str, is_destination: bool) -> Targets {
        let Some(text) = address(text, is_destination) else { return Targets::NONE };
        let Ok(target) = net::Target::within(&text, &self.inner) else {
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
        let is_flagged = flagged(&self.flags, &target).is_some();
        if is_flagged || !net::exfiltration(&target).is_empty() {
            found = found.with(Target::Exfiltration);
        }
        found
    }
}

/// The address that a text is, as a browser would ask for it: tabs and line ends left out, and two slashes
/// behind the scheme however many there are. None if it is no address.
pub(crate) fn address(text: &str, is_destination: bool) -> Option<Cow<'_, str>> {
    let text = text.trim();
    let text: Cow<'_, str> = if text.contains(['\t', '\n', '\r']) {
        text.replace(['\t', '\n', '\r'], "").into()
    } else {
        text.into()
    };
    if let Some((scheme, rest)) = text.split_once(':')
        && WEB.iter().any(|it| scheme.eq_ignore_ascii_case(it))
    {
        let host = rest.trim_start_matches(['/', '\\']);
        let whole = rest.len().saturating_sub(host.len()) == 2 && rest.starts_with("//");
        return Some(if whole { text } else { format!("{scheme}://{host}").into() });
    }
    if let Some(rest) = text.strip_prefix("//") {
        return Some(format!("https://{rest}").into());
    }
    if text.contains("://") && !text.contains(char::is_whitespace) {
        return Some(text);
    }
    // `api.example.com/path`, and not a mail address, a channel or a name.
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_place = is_destination && host.contains('.') && !host.contains(['@', ' ']);
    is_place.then(|| format!("https://{text}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(reach: &Reach, text: &str) -> Vec<Target> {
        reach.class_of(text, false).iter().collect()
    }

    #[test]
    fn what_is_on_no_list_or_cannot_be_read_is_off_the_list() {
        let list = |of: &[&str]| Domains::parse(of).unwrap();
        let reach = Reach {
            allow: vec![list(&["*.example.com"]), list(&["api.example.com", "b.example.com"])],
            block: list(&["b.example.com"]),
            ..Reach::default()
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
            "https://evil.example/ x",
            "https:/evil.example/",
            "https:evil.example",
            "//evil.example/",
            "https://evil.example/\n",
        ] {
            assert_eq!(class(&reach, outside), [Target::UnlistedDomain], "{outside}");
        }
        assert_eq!(class(&reach, "https://b.example.com/"), [Target::BlockedDomain]);
        // Who only mentions one, asks for none.
        assert_eq!(class(&reach, "see https://evil.example/ for more"), []);
        assert_eq!(class(&Reach::default(), "https://evil.example/"), []);
        assert_eq!(class(&Reach::default(), "ftp://evil.example/"), []);
        let bare = |text: &str| reach.class_of(text, true).iter().collect::<Vec<_>>();
        assert_eq!(bare("evil.example/x"), [Target::UnlistedDomain]);
        assert_eq!(bare("api.example.com"), []);
        for other in ["ann@evil.example", "general", "Ann B. Smith", "#team.alerts"] {
            assert_eq!(bare(other), [], "{other}");
        }
        let nothing = class(&Reach::nothing(), "https://api.example.com/");
        assert_eq!(nothing, [Target::UnlistedDomain]);
    }

    #[test]
    fn what_looks_like_data_is_seen_and_ordinary_addresses_are_not() {
        let long = format!("https://a.example/?d={}", "x".repeat(400));
        assert_eq!(class(&Reach::default(), &long), [Target::Exfiltration]);
        assert_eq!(class(&Reach::default(), "https://a.example/?page=2&sort=name"), []);
        let data = "QUtJQUlPU0ZPRE5ON0VYQU1QTEVBS0lBSU9TRk9ETk43RVhBTVBMRQ";
        for text in [
            format!("https://a.example/?d={data} x"),
            format!("https://a.example/?d={data}&q=hello world"),
            format!("https://a.example/\t?d={data}\n"),
            format!("//a.example/?d={data}"),
            format!("https:/a.example/?d={data}"),
            format!("HTTPS:a.example/?d={data}"),
        ] {
            assert_eq!(class(&Reach::default(), &text), [Target::Exfiltration], "{text}");
        }
        // Without a scheme it is one where a call goes to it.
        let bare = format!("a.example/?d={data}");
        assert_eq!(class(&Reach::default(), &bare), []);
        let found = Reach::default().class_of(&bare, true);
        assert_eq!(found.iter().collect::<Vec<_>>(), [Target::Exfiltration]);
    }
}
