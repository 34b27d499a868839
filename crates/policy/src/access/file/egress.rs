//! The way out: `config.yaml`, the part under `egress`.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use scan::net::{Inner, InnerHost, Prefix, Rule, Suspicion, Target};

use super::parts::hosts;
use super::scalar::{Label, Number, text};
use super::security::patterns;
use crate::access::Glob;

/// Methods that may be listed. `CONNECT` is a tunnel, in which there may be any.
const METHODS: &[&str] =
    &["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PROPFIND", "PUT", "REPORT"];
/// The longest body that can be allowed, in bytes.
const BYTES_MAX: u64 = 1 << 40;

/// What all agents of the host may reach, and how they search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Egress {
    /// These domains and no others; an agent's own list only narrows it.
    #[serde(default, deserialize_with = "hosts")]
    pub allowed_domains: Option<Vec<String>>,
    /// Never these.
    #[serde(default, deserialize_with = "hosts")]
    pub blocked_domains: Option<Vec<String>>,
    /// These ports and no others; those of the web if nothing is said.
    #[serde(default, deserialize_with = "ports")]
    pub ports: Option<Vec<u16>>,
    /// These methods and no others; all if nothing is said.
    #[serde(default, deserialize_with = "methods")]
    pub methods: Option<Vec<String>>,
    /// The longest body of a request, in bytes.
    #[serde(default, deserialize_with = "bytes")]
    pub payload_bytes: Option<u64>,
    /// The search engine.
    #[serde(default)]
    pub search: Option<Search>,
    /// Hosts of the inner network that are open all the same.
    #[serde(default, deserialize_with = "inner")]
    pub inner: Inner,
    /// Addresses that look as if they carried data off, beside those that are seen to.
    #[serde(default, deserialize_with = "flags")]
    pub flag_patterns: Vec<Glob>,
}

/// A search engine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// How it speaks.
    pub engine: SearchEngine,
    /// Where it is: on the web, or at a loopback address of this machine.
    #[serde(deserialize_with = "engine_address")]
    pub url: String,
}

/// How a search engine speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchEngine {
    /// As SearXNG does.
    Searxng,
    /// As Brave does, with a key.
    Brave,
}

/// An address of the web, or one of this machine: written by the operator, it means exactly that one.
fn engine_address<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    const HERE: &str =
        "SearXNG on this machine is named by its address, as `http://127.0.0.1:8888`";
    text(input, |url| {
        let read = Target::parse(url);
        let read = read.or_else(|it| Target::dangerously_on_this_machine(url).map_err(|_| it));
        read.map(|_| url.to_owned()).map_err(|refused| format!("{refused}; {HERE}"))
    })
}

/// The sign that an address is like one that the settings flag, if it is.
#[must_use]
pub fn flagged(patterns: &[Glob], target: &Target) -> Option<Suspicion> {
    let address = target.url().as_str().to_lowercase();
    patterns.iter().find(|it| it.fits(&address)).map(|pattern| Suspicion {
        rule: Rule::EgressFlagged,
        reason: format!("the address is like `{pattern}`, which the settings flag"),
    })
}

fn flags<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Glob>, D::Error> {
    patterns(input, "egress.flagPatterns", Glob::address)
}

/// Methods as servers know them: in capital letters.
fn methods<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<String>>, D::Error> {
    let all = Vec::<String>::deserialize(input)?;
    match all.iter().find(|it| !METHODS.contains(&it.as_str())) {
        Some(bad) => {
            let known = METHODS.join(", ");
            Err(D::Error::custom(format!("`{bad}` is no method; there are {known}")))
        }
        None => Ok(Some(all)),
    }
}

/// Hosts that the operator opens, each with its port and its addresses.
fn inner<'de, D: Deserializer<'de>>(input: D) -> Result<Inner, D::Error> {
    let all = Vec::<Opened>::deserialize(input)?.into_iter().map(|it| it.0).collect();
    Inner::new(all).map_err(D::Error::custom)
}

struct Opened(InnerHost);

impl<'de> Deserialize<'de> for Opened {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            host: Label,
            #[serde(deserialize_with = "port")]
            port: u16,
            #[serde(default)]
            addresses: Vec<Addresses>,
        }
        let raw = Raw::deserialize(input)?;
        let prefixes = raw.addresses.into_iter().map(|it| it.0).collect();
        InnerHost::new(&raw.host.0, raw.port, prefixes).map(Self).map_err(D::Error::custom)
    }
}

struct Addresses(Prefix);

impl<'de> Deserialize<'de> for Addresses {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| Prefix::parse(it).map(Self).map_err(|error| error.to_string()))
    }
}

fn bytes<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    let Number(number) = Number::deserialize(input)?;
    let whole = number as u64;
    let is_number = whole as f64 == number && whole <= BYTES_MAX;
    is_number.then_some(Some(whole)).ok_or_else(|| {
        D::Error::custom(format!("`{number}` is no number of bytes up to {BYTES_MAX}"))
    })
}

fn ports<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<u16>>, D::Error> {
    Vec::<Port>::deserialize(input).map(|all| Some(all.into_iter().map(|it| it.0).collect()))
}

fn port<'de, D: Deserializer<'de>>(input: D) -> Result<u16, D::Error> {
    Port::deserialize(input).map(|it| it.0)
}

struct Port(u16);

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let Number(number) = Number::deserialize(input)?;
        (1..=u16::MAX)
            .contains(&(number as u16))
            .then_some(number as u16)
            .filter(|it| f64::from(*it) == number)
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("`{number}` is no port")))
    }
}
