//! What a call names, for rules: the programs and commands that it would run, paths, hosts, who gets something.

use model::ipc::ActionName;
use model::{EffectKind, Reach as Goes, Role};
use policy::{Named, NamedHost, NamedPath, Op};
use scan::net::{self, Inner};

use crate::command::Command;
use crate::target::{self, FILE_PARAMS};
use crate::understood::Understood;

/// Everything that the call names.
pub(crate) fn of(asked: &Understood, commands: &[Command], inner: &Inner) -> Named {
    let mut named = Named::default();
    for command in commands {
        command.name_to(&mut named);
    }
    // A command says by itself what it touches.
    if asked.kind() != EffectKind::ShellExec {
        arguments(asked, inner, &mut named);
    }
    named.bounded()
}

fn arguments(asked: &Understood, inner: &Inner, named: &mut Named) {
    let flow = &asked.call.flow;
    let goes_out = flow.egress || flow.reach == Goes::Send;
    let is_service = asked.tool() == ActionName::OauthCall.as_str();
    let op = op(asked);
    for (param, value) in asked.call.call.args() {
        let role = flow.roles.get(param).copied();
        // What is only said names nothing, and what is secret is nobody's to name.
        if matches!(role, Some(Role::Content | Role::Secret)) {
            continue;
        }
        let is_destination = goes_out && role == Some(Role::Destination);
        let is_file = FILE_PARAMS.contains(&param.as_str()) && !is_service;
        target::visit(value, &mut |text| {
            if let Some(path) = text.trim().strip_prefix("file://") {
                named.paths.insert(NamedPath { op, path: plain_path(path) });
            } else if let Some(address) = target::address(text, is_destination) {
                host(&address, inner, named);
            } else if is_file && !text.trim().is_empty() {
                named.paths.insert(NamedPath { op, path: plain_path(text) });
            } else if is_destination {
                recipients(text, named);
            }
        });
    }
}

fn op(asked: &Understood) -> Op {
    let flow = &asked.call.flow;
    match (asked.kind(), flow.reach) {
        (EffectKind::FileRead, _) => Op::Read,
        (EffectKind::FileWrite, _) => Op::Write,
        _ if flow.destructive => Op::Delete,
        (_, Goes::Read) => Op::Read,
        (_, Goes::Write | Goes::Send) => Op::Write,
    }
}

/// An address that cannot be read names a host that nobody knows.
fn host(address: &str, inner: &Inner, named: &mut Named) {
    if let Ok(target) = net::Target::within(address, inner) {
        let host = target.host().to_string();
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
        let scheme = target.url().scheme().to_owned();
        named.hosts.insert(NamedHost { host, port: target.port(), scheme });
        return;
    }
    // An address of the inner network, or of a scheme that nobody here dials.
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let seen = net::seen_host(address).or_else(|| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = rest.get(..end)?.rsplit('@').next()?;
        NamedHost::parse(authority).map(|it| it.host)
    });
    match seen {
        Some(host) => {
            let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
            let scheme = scheme.to_lowercase();
            named.hosts.insert(NamedHost { host, port: 0, scheme });
        }
        None => named.unread = true,
    }
}

/// Mail addresses wherever they stand in the text; else the text as it is.
fn recipients(text: &str, named: &mut Named) {
    let between = |it: char| it.is_whitespace() || ",;<>\"'()".contains(it);
    let mut addresses = text.split(between).filter(|it| it.contains('@')).peekable();
    if addresses.peek().is_none() && !text.trim().is_empty() {
        named.recipients.insert(text.trim().to_lowercase());
    }
    named.recipients.extend(addresses.map(str::to_lowercase));
}

/// Without `.`, `..` and empty parts, as far as the text alone tells.
fn plain_path(text: &str) -> String {
    let text = text.trim();
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/').filter(|it| !matches!(*it, "" | ".")) {
        let is_inside = parts.last().is_some_and(|it| *it != "..");
        if part == ".." && is_inside {
            parts.pop();
        } else if part != ".." || !text.starts_with('/') {
            parts.push(part);
        }
    }
    let root = if text.starts_with('/') { "/" } else { "" };
    let path = format!("{root}{}", parts.join("/"));
    if path.is_empty() { ".".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (text, plain) in [
            ("src/main.rs", "src/main.rs"),
            ("./src//x/../main.rs", "src/main.rs"),
            ("/etc/./passwd", "/etc/passwd"),
            ("/../etc", "/etc"),
            ("../x", "../x"),
            ("a/../..", ".."),
            ("./", "."),
            ("/", "/"),
        ] {
            assert_eq!(plain_path(text), plain, "{text}");
        }
    }

    #[test]
    fn hosts_are_named_whatever_they_are() {
        let named = |text: &str| {
            let mut named = Named::default();
            host(text, &Inner::default(), &mut named);
            (named.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(), named.unread)
        };
        let one = |it: &str| (vec![it.to_owned()], false);
        assert_eq!(named("https://API.example.com/x"), one("https://api.example.com:443"));
        assert_eq!(named("http://a.example:8080/"), one("http://a.example:8080"));
        assert_eq!(named("http://127.0.0.1:9/"), one("http://127.0.0.1"));
        assert_eq!(named("ssh://git@a.example/x"), one("ssh://a.example"));
        assert_eq!(named("ftp://"), (Vec::new(), true));
    }

    #[test]
    fn mail_addresses_are_found_among_words() {
        let mut named = Named::default();
        recipients("Ann <Ann@a.example>, bob@b.example", &mut named);
        recipients("#General", &mut named);
        let found: Vec<_> = named.recipients.into_iter().collect();
        assert_eq!(found, ["#general", "ann@a.example", "bob@b.example"]);
    }
}
