//! Names that mean something: who serves to carry data off, who leads inside.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::names::{INSIDE, LEADS_INSIDE, METADATA};
use super::wildcard::SERVICES;
use super::{Host, Refused};

/// What a domain is, with everything under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Metadata,
    Inside,
    LeadsInside,
    /// It answers with the address in the name.
    Wildcard,
    Carrier,
    Tunnel,
    Drop,
}

/// Every domain of the lists: one look for each suffix of a name, however many there are.
static CLASSES: LazyLock<HashMap<&str, Class>> = LazyLock::new(|| {
    let lists = [
        (METADATA, Class::Metadata),
        (INSIDE, Class::Inside),
        (LEADS_INSIDE, Class::LeadsInside),
        (SERVICES, Class::Wildcard),
        (CARRIERS, Class::Carrier),
        (TUNNELS, Class::Tunnel),
        (DROPS, Class::Drop),
    ];
    lists.iter().flat_map(|(list, class)| list.iter().map(|it| (*it, *class))).collect()
});

/// Services that show anybody what was sent to them: out of reach unless somebody changes the list.
pub const CARRIERS: &[&str] = &[
    "burpcollaborator.net",
    "canarytokens.com",
    "dpaste.org",
    "hastebin.com",
    "hookbin.com",
    "interact.sh",
    "interactsh.com",
    "paste.ee",
    "pastebin.com",
    "pipedream.net",
    "requestbin.com",
    "webhook.site",
];
/// Tunnels to somebody's own machine.
pub const TUNNELS: &[&str] = &[
    "bore.pub",
    "loca.lt",
    "localhost.run",
    "localtunnel.me",
    "ngrok-free.app",
    "ngrok-free.dev",
    "ngrok.app",
    "ngrok.dev",
    "ngrok.io",
    "pagekite.me",
    "pinggy.io",
    "pinggy.link",
    "serveo.net",
    "trycloudflare.com",
];
/// More of the kind of [`CARRIERS`], with honest uses beside: worth a question.
pub(super) const DROPS: &[&str] = &[
    "0x0.st",
    "anonfiles.com",
    "beeceptor.com",
    "catbox.moe",
    "ceye.io",
    "controlc.com",
    "dnslog.cn",
    "file.io",
    "ghostbin.com",
    "gofile.io",
    "hookdeck.com",
    "ix.io",
    "justpaste.it",
    "mockbin.org",
    "oast.fun",
    "oast.live",
    "oast.me",
    "oast.online",
    "oast.pro",
    "oast.site",
    "oastify.com",
    "paste.rs",
    "privatebin.net",
    "ptsv3.com",
    "rentry.co",
    "rentry.org",
    "requestcatcher.com",
    "sprunge.us",
    "termbin.com",
    "transfer.sh",
    "typedwebhook.tools",
    "webhook.cool",
    "webhookinbox.com",
];
/// Hooks on hosts that serve much else: whoever knows the path can write, and its owner reads.
pub(super) const HOOKS: &[(&str, &str)] = &[
    ("api.telegram.org", "/bot"),
    ("canary.discord.com", "/api/webhooks/"),
    ("discord.com", "/api/webhooks/"),
    ("discordapp.com", "/api/webhooks/"),
    ("hooks.slack.com", "/services/"),
    ("hooks.zapier.com", "/hooks/"),
    ("maker.ifttt.com", "/trigger/"),
    ("ptb.discord.com", "/api/webhooks/"),
];

/// Refuses the services of [`CARRIERS`].
///
/// # Errors
/// If it is one, or under one.
pub fn blocked(host: &Host) -> Result<(), Refused> {
    match host {
        Host::Name(name) if is_carrier(name) => {
            let reason = format!("`{name}` shows anybody what is sent to it");
            Err(Refused::new("net-blocked-domain", reason))
        }
        Host::Name(_) | Host::Address(_) => Ok(()),
    }
}

/// Is it one of [`CARRIERS`], or under one? In ASCII, in small letters, without a last dot.
#[must_use]
pub fn is_carrier(name: &str) -> bool {
    classes(name).any(|it| it.0 == Class::Carrier)
}

/// Is it one of [`TUNNELS`], or under one? In ASCII, in small letters, without a last dot.
#[must_use]
pub fn is_tunnel(name: &str) -> bool {
    classes(name).any(|it| it.0 == Class::Tunnel)
}

/// What the name and the domains above it are, with the domain, the longest first.
pub(super) fn classes(name: &str) -> impl Iterator<Item = (Class, &str)> {
    suffixes(name).filter_map(|it| CLASSES.get(it).map(|class| (*class, it)))
}

/// `a.b.c`, `b.c`, `c`.
pub(super) fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |it| it.split_once('.').map(|(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_domain_is_on_two_lists() {
        let lists = [METADATA, INSIDE, LEADS_INSIDE, SERVICES, CARRIERS, TUNNELS, DROPS];
        assert_eq!(CLASSES.len(), lists.iter().map(|it| it.len()).sum::<usize>());
    }

    #[test]
    fn a_domain_is_under_itself_and_above_its_sub_domains() {
        for name in ["webhook.site", "a.webhook.site", "a.b.webhook.site"] {
            assert!(is_carrier(name), "{name}");
        }
        for name in ["notwebhook.site", "webhook.site.example", "site", "", "."] {
            assert!(!is_carrier(name), "{name}");
        }
        assert!(is_tunnel("x.ngrok.io"));
    }
}
