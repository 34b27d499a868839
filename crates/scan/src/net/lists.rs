//! Hosts that serve to carry data off, by name. Sorted, so that they can be searched.

use super::{Host, Refused};

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
    is_under(name, CARRIERS)
}

/// Is it one of [`TUNNELS`], or under one? In ASCII, in small letters, without a last dot.
#[must_use]
pub fn is_tunnel(name: &str) -> bool {
    is_under(name, TUNNELS)
}

/// Is `name` one of the sorted `domains`, or within one?
pub(super) fn is_under(name: &str, domains: &[&str]) -> bool {
    suffixes(name).any(|it| domains.binary_search(&it).is_ok())
}

/// `a.b.c`, `b.c`, `c`.
pub(super) fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |it| it.split_once('.').map(|(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [CARRIERS, TUNNELS, DROPS] {
            assert!(list.is_sorted());
        }
        assert!(HOOKS.is_sorted());
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
