//! The server: `config.yaml`, the part under `serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{Flag, Number, Set, text};

/// How agents are served over the network.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ServeSettings {
    /// The certificate and its key, for an address that is not this machine's alone.
    pub tls: Option<ServeTls>,
    /// Proxies in front whose `X-Forwarded-For` is believed.
    pub behind_proxy: Networks,
    /// Names by which clients may call the server, beside those of this machine.
    pub allowed_hosts: Names,
    /// Pages of a browser that may call, as the browser names them.
    pub allowed_origins: Names,
    /// Takes tokens in addresses, where they end up in logs.
    pub allow_query_token: Switch,
    /// Turns that run at once.
    pub max_workers: Count<20, 1, 1_000>,
    /// Limits of clients.
    pub rate_limits: RateLimits,
    /// How long things are kept.
    pub privacy: Privacy,
    /// What tokens cost, for budgets in dollars.
    pub prices: Option<Prices>,
    /// What is written down.
    pub logging: Logging,
}

/// Files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeTls {
    /// The chain, in PEM.
    pub cert: PathBuf,
    /// Its key, in PEM.
    pub key: PathBuf,
}

/// Limits of clients.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct RateLimits {
    /// Requests of one user in a window.
    pub max_requests_per_window: Count<100, 1, 1_000_000>,
    /// The window, in milliseconds.
    pub window_ms: Count<60_000, 100, 3_600_000>,
    /// The longest message, in characters.
    pub max_message_length: Count<200_000, 1, 200_000>,
    /// Sockets of one user.
    pub max_connections_per_user: Count<5, 1, 1_000>,
    /// Messages of one user in a minute.
    pub messages_per_minute: Count<20, 1, 100_000>,
    /// Sessions of one user that have a turn running.
    pub concurrent_sessions: Count<10, 1, 1_000>,
    /// Wrong tokens from one address in a minute.
    pub auth_failures_per_minute: Count<10, 1, 1_000>,
    /// How long a socket may be silent, in milliseconds.
    pub ws_idle_timeout_ms: Count<1_800_000, 100, 86_400_000>,
}

/// How long things are kept.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Privacy {
    /// Conversations, in days.
    pub session_retention_days: Count<90, 1, 36_500>,
    /// Workspaces, in days.
    pub workspace_retention_days: Count<90, 1, 36_500>,
    /// What was spent, in days; never less than a budget looks back.
    pub usage_retention_days: Count<365, 31, 36_500>,
    /// The version of the policy that users agree to.
    pub policy_version: PolicyVersion,
}

/// What a million tokens cost, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Prices {
    /// Read by the model.
    #[serde(deserialize_with = "price")]
    pub input: f64,
    /// Written by it.
    #[serde(deserialize_with = "price")]
    pub output: f64,
    /// Read again from the provider's cache.
    #[serde(deserialize_with = "price")]
    pub cache_read: f64,
    /// Put there.
    #[serde(deserialize_with = "price")]
    pub cache_creation: f64,
}

/// What is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Logging {
    /// From which level on.
    pub level: LogLevel,
}

/// A level of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// What happens.
    #[default]
    Info,
    /// What should not.
    Warn,
    /// What must not.
    Error,
}

/// A whole number with a default and its bounds. What is out of them refuses the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count<const DEFAULT: u64, const LEAST: u64, const MOST: u64>(u64);

impl<const DEFAULT: u64, const LEAST: u64, const MOST: u64> Count<DEFAULT, LEAST, MOST> {
    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number, as a length.
    #[must_use]
    pub fn as_len(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<const D: u64, const L: u64, const M: u64> Default for Count<D, L, M> {
    fn default() -> Self {
        Self(D)
    }
}

impl<'de, const D: u64, const L: u64, const M: u64> Deserialize<'de> for Count<D, L, M> {
    fn deserialize<I: Deserializer<'de>>(input: I) -> Result<Self, I::Error> {
        let number = Number::deserialize(input)?.0;
        let whole = number as u64;
        if whole as f64 == number && (L..=M).contains(&whole) {
            return Ok(Self(whole));
        }
        Err(I::Error::custom(format!("`{number}` is no whole number from {L} to {M}")))
    }
}

/// On or off; off if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switch(pub bool);

impl<'de> Deserialize<'de> for Switch {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Flag::deserialize(input).map(|it| Self(it.0))
    }
}

/// Names in small letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let names = Set::<String>::deserialize(input)?.0;
        let plain = |it: &String| !it.is_empty() && it.bytes().all(|it| it.is_ascii_graphic());
        if !names.iter().all(plain) || names.iter().any(|it| it.contains('*')) {
            return Err(D::Error::custom("a list has names of ASCII without `*` and blanks"));
        }
        Ok(Self(names.into_iter().map(|it| it.to_ascii_lowercase()).collect()))
    }
}

/// The version of a policy: short and plain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyVersion(pub String);

/// The longest version of a policy, in characters.
pub const POLICY_VERSION_MAX: usize = 64;

impl Default for PolicyVersion {
    fn default() -> Self {
        Self("1.0".to_owned())
    }
}

impl<'de> Deserialize<'de> for PolicyVersion {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| {
            let plain = it.bytes().all(|it| it.is_ascii_graphic());
            if (1..=POLICY_VERSION_MAX).contains(&it.len()) && plain {
                return Ok(Self(it.to_owned()));
            }
            Err(format!("`policyVersion` has 1 to {POLICY_VERSION_MAX} characters without blanks"))
        })
    }
}

/// Networks by their prefixes. One that holds every address is refused: it would believe anybody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<Cidr>);

impl Networks {
    /// Is the address in one of them?
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|it| it.contains(address))
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Networks {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let read = |it: &String| {
            let cidr = Cidr::parse(it).ok_or_else(|| {
                format!("`{}` is no network such as 10.0.0.0/8", it.escape_debug())
            })?;
            if cidr.bits == 0 {
                return Err(format!("`{it}` is every address: name the proxies in front"));
            }
            Ok(cidr)
        };
        let names = Set::<String>::deserialize(input)?.0;
        names.iter().map(read).collect::<Result<_, _>>().map(Self).map_err(D::Error::custom)
    }
}

/// A network: an address and how many of its bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: u128,
    bits: u32,
    is_v6: bool,
}

impl Cidr {
    /// Reads `ADDRESS/BITS`, or an address alone.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) if bits.bytes().all(|it| it.is_ascii_digit()) => {
                (address.parse().ok()?, Some(bits.parse::<u32>().ok()?))
            }
            Some(_) => return None,
            None => (text.parse().ok()?, None),
        };
        let (address, width, is_v6) = number(address);
        let bits = bits.unwrap_or(width);
        (bits <= width).then_some(Self { address, bits, is_v6 })
    }

    /// Is the address in it?
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let (address, width, is_v6) = number(address);
        let shift = width.saturating_sub(self.bits);
        let of = |it: u128| it.checked_shr(shift).unwrap_or(0);
        is_v6 == self.is_v6 && of(address) == of(self.address)
    }
}

/// An address as a number, its bits, and whether it is of IPv6. One of IPv4 within IPv6 is of IPv4.
fn number(address: IpAddr) -> (u128, u32, bool) {
    match address.to_canonical() {
        IpAddr::V4(it) => (u128::from(it.to_bits()), 32, false),
        IpAddr::V6(it) => (it.to_bits(), 128, true),
    }
}

fn price<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    let price = Number::deserialize(input)?.0;
    if (0.0..=PRICE_MAX).contains(&price) {
        return Ok(price);
    }
    Err(D::Error::custom(format!("a price is a number from 0 to {PRICE_MAX}")))
}

/// The greatest price of a million tokens, in US dollars.
const PRICE_MAX: f64 = 100_000.0;
