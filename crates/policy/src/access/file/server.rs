//! Tool servers that a manifest names.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Deserialize;
use serde::de::Deserializer;

use super::scalar::{Label, text};

/// A tool server of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Its name in tool names.
    pub server: String,
    /// How it is reached.
    pub transport: Transport,
}

/// How a tool server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// At an address.
    Uri(String),
    /// As a command on this machine.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: BTreeMap<String, String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(deserialize_with = "server_name")]
    server: String,
    #[serde(default, deserialize_with = "some_address")]
    uri: Option<String>,
    command: Option<Label>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
}

impl<'de> Deserialize<'de> for McpServer {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(input)?;
        let transport = match (raw.uri, raw.command, raw.args, raw.env) {
            (Some(uri), None, None, None) => Transport::Uri(uri),
            (None, Some(command), args, env) => Transport::Command {
                command: command.0,
                args: args.unwrap_or_default(),
                env: env.unwrap_or_default(),
            },
            (Some(_), None, ..) => {
                return Err(serde::de::Error::custom("`args` and `env` belong to a `command`"));
            }
            (Some(_), Some(_), ..) | (None, None, ..) => {
                return Err(serde::de::Error::custom("a server has either `uri` or `command`"));
            }
        };
        Ok(Self { server: raw.server, transport })
    }
}

fn server_name<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    text(input, |it| {
        let inner = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
        let edge = |it: Option<u8>| it.is_some_and(|it| it.is_ascii_alphanumeric());
        let good = it.len() <= 64
            && it.bytes().all(inner)
            && edge(it.bytes().next())
            && edge(it.bytes().next_back());
        let wrong = || "a server's name has letters, digits and `-` between them, at most 64";
        if good { Ok(it.to_owned()) } else { Err(wrong().to_owned()) }
    })
}

fn some_address<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    web_address(input).map(Some)
}

/// An address on the web that does not plainly lead inside. Where a name leads is looked at when it
/// is dialled.
pub(super) fn web_address<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    text(input, |it| check_address(it).map(|()| it.to_owned()))
}

fn check_address(uri: &str) -> Result<(), String> {
    let foul = |it: char| it.is_whitespace() || it.is_control() || it == '\\';
    let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"));
    let rest =
        rest.filter(|_| !uri.contains(foul)).ok_or("an address begins with https:// or http://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || authority.contains('@') {
        return Err("an address has a host and no user name".to_owned());
    }
    let host = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']').map(|(host, _)| host).ok_or("a bracket is missing")?,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    if leads_inside(host) {
        return Err(format!(
            "`{}` leads to this machine or the inner network",
            host.escape_debug()
        ));
    }
    Ok(())
}

fn leads_inside(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => !is_public_v4(address),
        Ok(IpAddr::V6(address)) => !is_public_v6(address),
        Err(_) => {
            // A last part that is a number makes many readers see an address: 0x7f.1, 2130706433.
            let last = host.rsplit('.').next().unwrap_or_default();
            let number = last.bytes().all(|it| it.is_ascii_digit()) || last.starts_with("0x");
            let inner = ["localhost", "local", "internal", "localdomain"].contains(&last);
            !host.is_ascii() || number || inner
        }
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!((a, b), (0 | 10 | 127 | 224.., _) | (100, 64..=127) | (169, 254))
        || matches!((a, b), (172, 16..=31) | (192, 168) | (198, 18..=19))
        || matches!((a, b, c), (192, 0, 0 | 2) | (192, 88, 99) | (198, 51, 100) | (203, 0, 113));
    !special
}

/// Global unicast, and not one of the forms that carry an IPv4 address inside.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let documentation = a == 0x2001 && b == 0xdb8;
    let carries_v4 = a == 0x2002 || (a == 0x2001 && b == 0);
    (0x2000..=0x3fff).contains(&a) && !documentation && !carries_v4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_are_refused_in_every_spelling() {
        for good in ["https://example.com/mcp", "http://8.8.8.8:80/", "https://[2606:4700::1]/x"] {
            assert_eq!(check_address(good), Ok(()), "{good}");
        }
        for bad in [
            "http://169.254.169.254/",
            "http://localhost:80/",
            "http://a.localhost/",
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[fe90::1]/",
            "http://100.64.0.1/",
            "http://user@example.com/",
            "ftp://example.com/",
            "https://",
            "http://exa mple.com/",
            "http://１２７.0.0.1/",
        ] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }
}
