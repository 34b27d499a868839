//! Names that mean something: who serves to carry data off, who leads inside.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::encoded::decoded;
use super::names::{INSIDE, LEADS_INSIDE, METADATA};
use super::wildcard::SERVICES;
use super::{Host, Refused};
use crate::net::Rule;

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
    "devtunnels.ms",
    "lhr.life",
    "lhr.rocks",
    "loca.lt",
    "localhost.run",
    "localtunnel.me",
    "loclx.io",
    "ngrok-free.app",
    "ngrok-free.dev",
    "ngrok.app",
    "ngrok.dev",
    "ngrok.io",
    "ngrok.pizza",
    "packetriot.net",
    "pagekite.me",
    "pinggy.io",
    "pinggy.link",
    "remote.moe",
    "serveo.net",
    "share.zrok.io",
    "sharedwithexpose.com",
    "srv.us",
    "telebit.cloud",
    "trycloudflare.com",
    "tunnelmole.net",
    "tunnelto.dev",
];
/// More of the kind of [`CARRIERS`], with honest uses beside: worth a question.
pub(super) const DROPS: &[&str] = &[
    "0x0.st",
    "2no.co",
    "anonfiles.com",
    "bashupload.com",
    "beeceptor.com",
    "bpa.st",
    "bxss.me",
    "canarytokens.org",
    "catbox.moe",
    "ceye.io",
    "cl1p.net",
    "clbin.com",
    "controlc.com",
    "dnslog.cn",
    "dpaste.com",
    "endpoint.ninja",
    "envs.sh",
    "eyes.sh",
    "file.io",
    "filebin.net",
    "formspree.io",
    "formsubmit.co",
    "getform.io",
    "ghostbin.com",
    "gofile.io",
    "grabify.link",
    "hookb.in",
    "hookdeck.com",
    "hst.sh",
    "iplogger.com",
    "iplogger.org",
    "ix.io",
    "jsonbin.io",
    "jsonblob.com",
    "justpaste.it",
    "kvdb.io",
    "mockbin.org",
    "mocky.io",
    "npoint.io",
    "ntfy.sh",
    "oast.fun",
    "oast.live",
    "oast.me",
    "oast.online",
    "oast.pro",
    "oast.site",
    "oastify.com",
    "oshi.at",
    "paste.debian.net",
    "paste.gg",
    "paste.mozilla.org",
    "paste.rs",
    "pastecode.io",
    "pastes.io",
    "pingb.in",
    "pixeldrain.com",
    "play.svix.com",
    "postb.in",
    "privatebin.net",
    "ptsv2.com",
    "ptsv3.com",
    "rentry.co",
    "rentry.org",
    "requestb.in",
    "requestbin.net",
    "requestcatcher.com",
    "requestinspector.com",
    "requestrepo.com",
    "smee.io",
    "sprunge.us",
    "temp.sh",
    "termbin.com",
    "textbin.net",
    "tmpfiles.org",
    "transfer.sh",
    "typedwebhook.tools",
    "ufile.io",
    "uguu.se",
    "webhook-test.com",
    "webhook.cool",
    "webhook.link",
    "webhookinbox.com",
    "x0.at",
    "xss.ht",
    "yip.su",
    "zerobin.net",
];
/// Hooks on hosts that serve much else, and on those under them: whoever knows the path can write, and its owner
/// reads. The path is given by how its first parts begin.
const HOOKS: &[(&str, &[&str])] = &[
    ("api.telegram.org", &["bot"]),
    ("api.pushover.net", &["messages"]),
    ("chat.googleapis.com", &["spaces"]),
    ("discord.com", &["api", "webhooks"]),
    ("discordapp.com", &["api", "webhooks"]),
    ("docs.google.com", &["forms", "d", "e", "", "formresponse"]),
    ("docs.google.com", &["forms", "u", "d", "e", "", "formresponse"]),
    ("hook.eu1.make.com", &[""]),
    ("hook.eu2.make.com", &[""]),
    ("hook.integromat.com", &[""]),
    ("hook.us1.make.com", &[""]),
    ("hook.us2.make.com", &[""]),
    ("hooks.airtable.com", &["workflows"]),
    ("hooks.slack.com", &["services"]),
    ("hooks.slack.com", &["triggers"]),
    ("hooks.slack.com", &["workflows"]),
    ("hooks.zapier.com", &["hooks"]),
    ("logic.azure.com", &["workflows"]),
    ("maker.ifttt.com", &["trigger"]),
    ("maker.ifttt.com", &["use"]),
    ("oapi.dingtalk.com", &["robot"]),
    ("open.feishu.cn", &["open-apis", "bot"]),
    ("open.larksuite.com", &["open-apis", "bot"]),
    ("outlook.office.com", &["webhook"]),
    ("outlook.office365.com", &["webhook"]),
    ("qyapi.weixin.qq.com", &["cgi-bin", "webhook"]),
    ("script.google.com", &["a", "macros"]),
    ("script.google.com", &["macros"]),
    ("webhook.office.com", &["webhook"]),
];
/// How often a path may be written in percent signs and be read all the same.
const DECODINGS_MAX: usize = 2;

/// Is it a hook of [`HOOKS`]? However its path is written: with percent signs, in capital letters, with more
/// slashes than it needs, for a version of the interface.
pub(super) fn is_hook(name: &str, path: &str) -> bool {
    let of = |host: &str| suffixes(name).any(|it| it == host);
    if !HOOKS.iter().any(|(host, _)| of(host)) {
        return false;
    }
    let mut plain = Cow::Borrowed(path);
    for _ in 0..DECODINGS_MAX {
        plain = Cow::Owned(decoded(&plain).into_owned());
    }
    let plain = plain.to_ascii_lowercase();
    let parts: Vec<&str> = parts(&plain);
    HOOKS.iter().any(|(host, first)| {
        parts.len() >= first.len()
            && parts.iter().zip(*first).all(|(part, begins)| part.starts_with(begins))
            && of(host)
    })
}

/// The parts of a path, as a server reads it: `.` is nothing and `..` takes one back; a version says nothing.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        // `name;parameter` is `name` to some.
        let part = part.split(';').next().unwrap_or_default().trim();
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part if is_version(part) => {}
            part => parts.push(part),
        }
    }
    parts
}

/// `v10`, `1`.
fn is_version(part: &str) -> bool {
    let number = part.strip_prefix('v').unwrap_or(part);
    !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
}

/// Refuses the services of [`CARRIERS`].
///
/// # Errors
/// If it is one, or under one.
pub fn blocked(host: &Host) -> Result<(), Refused> {
    match host {
        Host::Name(name) if is_carrier(name) => {
            let reason = format!("`{name}` shows anybody what is sent to it");
            Err(Refused::new(Rule::BlockedDomain, reason))
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
    fn a_hook_is_one_however_its_path_is_written() {
        for (name, path) in [
            ("discord.com", "/api/webhooks/1/x"),
            ("discord.com", "/api/v10/webhooks/1/x"),
            ("discord.com", "/%61pi/webhooks/1/x"),
            ("discord.com", "/%2561pi/webhooks/1/x"),
            ("discord.com", "//api///webhooks/1/x"),
            ("discord.com", "/x/%2e%2e/api/./webhooks/1"),
            ("discord.com", "/API/Webhooks/1"),
            ("discord.com", "/api;a=b/webhooks/1"),
            ("discord.com", "/api%2Fwebhooks/1"),
            ("www.discord.com", "/api/webhooks/1/x"),
            ("ptb.discord.com", "/api/webhooks/1/x"),
            ("api.telegram.org", "/%62ot12:x/sendMessage"),
            ("hooks.slack.com", "/workflows/T1"),
            ("hooks.slack.com", "/%73ervices/T1"),
            ("x.webhook.office.com", "/webhookb2/1"),
            ("chat.googleapis.com", "/v1/spaces/x/messages"),
            ("docs.google.com", "/forms/d/e/1FAIpQLS/formResponse"),
            ("docs.google.com", "/forms/u/0/d/e/1FAIpQLS/formResponse"),
            ("api.pushover.net", "/1/messages.json"),
            ("prod-12.westus.logic.azure.com", "/workflows/x/triggers/manual/paths/invoke"),
            ("script.google.com", "/macros/s/x/exec"),
        ] {
            assert!(is_hook(name, path), "{name}{path}");
        }
        for (name, path) in [
            ("discord.com", "/"),
            ("discord.com", "/api"),
            ("discord.com", "/blog/api/webhooks"),
            ("discord.com", "/developers/docs/resources/webhook"),
            ("notdiscord.com", "/api/webhooks/1"),
            ("api.telegram.org", "/"),
            ("hooks.slack.com", "/"),
            ("slack.com", "/services/x"),
            ("docs.google.com", "/forms/d/e/1FAIpQLS/viewform"),
            ("docs.google.com", "/document/d/x/edit"),
            ("script.google.com", "/home"),
        ] {
            assert!(!is_hook(name, path), "{name}{path}");
        }
    }

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
