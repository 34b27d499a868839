//! Classes of hosts, by name: who serves to carry data off, who tunnels to somebody's machine.

use policy::{Target, Targets};

/// Services that show anybody what was sent to them.
const CARRIERS: &[&str] = &[
    "burpcollaborator.net", "canarytokens.com", "dpaste.org", "hastebin.com", "hookbin.com", "interact.sh",
    "interactsh.com", "paste.ee", "pastebin.com", "pipedream.net", "requestbin.com", "webhook.site",
];
/// Tunnels to somebody's own machine.
const TUNNELS: &[&str] =
    &["loca.lt", "ngrok-free.app", "ngrok.app", "ngrok.dev", "ngrok.io", "serveo.net", "trycloudflare.com"];
/// Names of this machine.
const LOCAL: &[&str] = &["localhost", "localhost.localdomain", "ip6-localhost"];

/// The classes of an address or a host name. Whether a name resolves to a private address is for whoever
/// dials it to find out.
#[must_use]
pub fn class_of_host(text: &str) -> Targets {
    let Some(host) = host_of(text) else { return Targets::NONE };
    let is_under = |list: &[&str]| {
        list.iter().any(|it| {
            host.strip_suffix(it).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    };
    let mut found = Targets::NONE;
    if is_under(CARRIERS) {
        found = found.with(Target::BlockedDomain);
    }
    if is_under(TUNNELS) {
        found = found.with(Target::TunnelDomain);
    }
    if is_under(LOCAL) {
        found = found.with(Target::PrivateAddress);
    }
    found
}

/// The host of an address, with or without scheme, as `a.example`.
fn host_of(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase().replace('\\', "/");
    let text: String = text.chars().map(|it| if "。．｡".contains(it) { '.' } else { it }).collect();
    let after = text.split_once("://").map_or(text.as_str(), |(_, after)| after);
    let authority = after.trim_start_matches('/').split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_are_known_in_any_spelling() {
        for text in [
            "https://webhook.site/abc", "HTTPS://X@Webhook.Site", "webhook.site.", "wss://a.b.webhook.site?x",
            " https:\\\\webhook.site\\", "https://webhook。site/",
        ] {
            assert!(class_of_host(text).contains(Target::BlockedDomain), "{text}");
        }
        for text in ["https://notwebhook.site", "https://webhook.site.example", "webhook", ""] {
            assert!(!class_of_host(text).contains(Target::BlockedDomain), "{text}");
        }
        assert!(class_of_host("http://localhost:80/").contains(Target::PrivateAddress));
        assert!(class_of_host("x.ngrok.io").contains(Target::TunnelDomain));
    }
}
