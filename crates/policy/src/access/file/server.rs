//! Tool servers that a manifest names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use scan::net::Target;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{Label, text};

/// Bytes of the name of a header field.
const HEADER_NAME_BYTES_MAX: usize = 64;
/// Bytes of its value, as it is written.
const HEADER_VALUE_BYTES_MAX: usize = 1024;

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
    Uri {
        /// The address.
        uri: String,
        /// Header fields that are sent along; secrets are named in their values.
        headers: BTreeMap<String, String>,
        /// Is it sent the token of the login that a person made there?
        login: bool,
    },
    /// As a command on this machine.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: BTreeMap<String, String>,
        /// Hosts that it may reach from its cage.
        network: Vec<String>,
        /// What it may read there beside the system's programs; whole paths.
        read: Vec<PathBuf>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(deserialize_with = "server_name")]
    server: String,
    #[serde(default, deserialize_with = "some_address")]
    uri: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    login: Option<bool>,
    command: Option<Label>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    network: Option<Vec<String>>,
    read: Option<Vec<PathBuf>>,
}

impl<'de> Deserialize<'de> for McpServer {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(input)?;
        let transport = match (raw.uri, raw.command) {
            (Some(uri), None) => {
                let of_command = [raw.args.is_some(), raw.env.is_some(), raw.network.is_some()];
                if of_command.contains(&true) || raw.read.is_some() {
                    let why = "`args`, `env`, `network` and `read` belong to a `command`";
                    return Err(Error::custom(why));
                }
                let headers = raw.headers.unwrap_or_default();
                headers.iter().try_for_each(check_header).map_err(Error::custom)?;
                Transport::Uri { uri, headers, login: raw.login.unwrap_or_default() }
            }
            (None, Some(command)) => {
                if raw.headers.is_some() || raw.login.is_some() {
                    return Err(Error::custom("`headers` and `login` belong to a `uri`"));
                }
                let read = raw.read.unwrap_or_default();
                if let Some(part) = read.iter().find(|it| !it.is_absolute()) {
                    let shown = part.display().to_string();
                    let shown = shown.escape_debug();
                    return Err(Error::custom(format!("`read`: `{shown}` is no whole path")));
                }
                let (args, env) = (raw.args.unwrap_or_default(), raw.env.unwrap_or_default());
                let network = raw.network.unwrap_or_default();
                Transport::Command { command: command.0, args, env, network, read }
            }
            (Some(_), Some(_)) | (None, None) => {
                return Err(Error::custom("a server has either `uri` or `command`"));
            }
        };
        Ok(Self { server: raw.server, transport })
    }
}

/// A header field is one line, and its name one word.
fn check_header((name, value): (&String, &String)) -> Result<(), String> {
    let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    if name.is_empty() || name.len() > HEADER_NAME_BYTES_MAX || !name.bytes().all(plain) {
        let shown = name.escape_debug();
        return Err(format!("`headers`: `{shown}` is no name: letters, digits, `-` and `_`"));
    }
    let is_shown = |it: u8| it == b' ' || it.is_ascii_graphic();
    match value.len() <= HEADER_VALUE_BYTES_MAX && value.bytes().all(is_shown) {
        true => Ok(()),
        false => Err(format!(
            "`headers`: the value of `{name}` is no line of at most {HEADER_VALUE_BYTES_MAX} ASCII characters"
        )),
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
    Target::parse(uri).map(drop).map_err(|refused| refused.to_string())
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
