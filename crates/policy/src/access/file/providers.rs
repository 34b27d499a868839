//! Which providers the host is to use: `config.yaml`, the part under `providers`.
//!
//! INVARIANT (OneProviderTable): a text becomes a row of the static table, or is refused on its line.

use std::collections::BTreeMap;
use std::fmt;

use model::provider::{Provider, ProviderKind, resolve};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::scalar::text;

/// One provider for each kind that is mentioned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Providers(pub(super) BTreeMap<ProviderKind, Provider>);

impl<'de> Deserialize<'de> for Providers {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Chosen;
        impl<'de> Visitor<'de> for Chosen {
            type Value = BTreeMap<ProviderKind, Provider>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a provider for each kind, such as `memory: sqlite`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut chosen = BTreeMap::new();
                while let Some(Kind(kind)) = map.next_key()? {
                    chosen.insert(kind, map.next_value_seed(NameOf(kind))?);
                }
                Ok(chosen)
            }
        }
        input.deserialize_map(Chosen).map(Self)
    }
}

struct Kind(ProviderKind);

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |word| match ProviderKind::parse(word) {
            Some(kind) => Ok(Self(kind)),
            // The table says what there is.
            None => resolve(word, "").map(|it| Self(it.kind())).map_err(|error| error.to_string()),
        })
    }
}

/// A name, of a provider of this kind.
struct NameOf(ProviderKind);

impl<'de> DeserializeSeed<'de> for NameOf {
    type Value = Provider;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Provider, D::Error> {
        text(input, |name| {
            let found = resolve(self.0.as_str(), name).map_err(|error| error.to_string())?;
            Ok(found.meant())
        })
    }
}
