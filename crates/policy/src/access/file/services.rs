//! Services that agents may call in the user's name: `config.yaml`, the part under `services`.

use std::collections::BTreeMap;

use scan::net::{Inner, Target};
use serde::Deserialize;
use serde::de::Deserializer;
use serde_saphyr::Spanned;

use super::FileError;
use super::parts::KeyName;
use super::scalar::{Label, text};
use super::yaml::line;

/// The longest name of a service, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// The longest name of a header field, in bytes.
const FIELD_BYTES_MAX: usize = 64;

/// Services by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Services(pub(super) BTreeMap<String, Service>);

/// A service, and the names of the secrets by which it knows the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Where it is. Nothing outside of it is asked for.
    pub url: String,
    /// The secret that is its token.
    pub token: String,
    /// The header field that carries the token.
    pub header: String,
    /// What stands before the token in that field.
    pub prefix: String,
    /// How a new token is had, if the service gives some.
    pub refresh: Option<Refresh>,
}

/// How a new token is had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Where.
    pub url: String,
    /// The secret that is the refresh token.
    pub token: String,
    /// How the service calls this program.
    pub client_id: Option<String>,
    /// The secret by which it knows this program.
    pub client_secret: Option<String>,
}

impl Service {
    /// The names of all secrets that calling it may need.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let refresh = self.refresh.iter();
        let more = refresh.flat_map(|it| [Some(it.token.as_str()), it.client_secret.as_deref()]);
        std::iter::once(self.token.as_str()).chain(more.flatten())
    }
}

/// Services as they were written: whether an address may be one is said by what the operator opens.
#[derive(Deserialize, Default)]
#[serde(transparent)]
pub(super) struct RawServices(BTreeMap<ServiceName, RawService>);

impl RawServices {
    /// The services, if their addresses lead outside or to what is open.
    pub(super) fn finish(self, inner: &Inner) -> Result<Services, FileError> {
        let all = self.0.into_iter().map(|(name, it)| Ok((name.0, it.finish(inner)?)));
        all.collect::<Result<_, _>>().map(Services)
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ServiceName(String);

impl<'de> Deserialize<'de> for ServiceName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| {
            let legal =
                |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-_.".contains(&it);
            if !it.is_empty() && it.len() <= NAME_BYTES_MAX && it.bytes().all(legal) {
                return Ok(Self(it.to_owned()));
            }
            let shown = it.escape_debug();
            Err(format!("`{shown}` is no name of a service: small letters, digits and `-_.`"))
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawService {
    url: Spanned<String>,
    token: KeyName,
    #[serde(default, deserialize_with = "field")]
    header: Option<String>,
    #[serde(default, deserialize_with = "prefix")]
    prefix: Option<String>,
    refresh: Option<RawRefresh>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawRefresh {
    url: Spanned<String>,
    token: KeyName,
    client_id: Option<Label>,
    client_secret: Option<KeyName>,
}

impl RawService {
    fn finish(self, inner: &Inner) -> Result<Service, FileError> {
        let own = self.header.is_some();
        let refresh = self.refresh.map(|it| {
            Ok(Refresh {
                url: secure(it.url, inner)?,
                token: it.token.0,
                client_id: it.client_id.map(|it| it.0),
                client_secret: it.client_secret.map(|it| it.0),
            })
        });
        Ok(Service {
            url: secure(self.url, inner)?,
            token: self.token.0,
            header: self.header.unwrap_or_else(|| "authorization".to_owned()),
            // A field of the service's own has the token and nothing else, unless it is said.
            prefix: self.prefix.unwrap_or_else(|| if own { "" } else { "Bearer " }.to_owned()),
            refresh: refresh.transpose()?,
        })
    }
}

/// An address to which a token may be sent: without a question, and over TLS unless it says otherwise.
fn secure(url: Spanned<String>, inner: &Inner) -> Result<String, FileError> {
    let wrong = |what: &str| FileError::at(line(&url, 1), what);
    if let Err(refused) = Target::within(&url.value, inner) {
        return Err(wrong(&refused.to_string()));
    }
    if url.value.contains(['?', '#']) {
        return Err(wrong("the address of a service has no `?` and no `#`"));
    }
    Ok(url.value)
}

fn field<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    text(input, |it| {
        let legal = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
        if !it.is_empty() && it.len() <= FIELD_BYTES_MAX && it.bytes().all(legal) {
            return Ok(Some(it.to_ascii_lowercase()));
        }
        Err(format!("`{}` is no header field", it.escape_debug()))
    })
}

fn prefix<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    text(input, |it| {
        let legal = |it: u8| it.is_ascii_graphic() || it == b' ';
        if it.len() <= FIELD_BYTES_MAX && it.bytes().all(legal) {
            return Ok(Some(it.to_owned()));
        }
        Err("a prefix is a short word".to_owned())
    })
}
