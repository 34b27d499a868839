//! What is done with what tools give back: `config.yaml`, the part under `sanitize`.

use scan::Allowed;
use scan::sanitize::{Category, Phrases, Plan, Plans, Treatment, Tripwire, TrustLevel};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use super::scalar::Number;

/// The smallest bound on a text, in bytes: less than this shows nothing of it.
const BYTES_MIN: f64 = 64.0;
/// The largest one, in bytes: longer outputs are withheld anyway.
const BYTES_MAX: f64 = 10_000_000.0;

/// What is done with what tools give back. What is not said stays as it is without settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct SanitizeSettings {
    trusted: Level,
    local: Level,
    external: Level,
    max_bytes: Bytes,
    tripwire: Wire,
    phrases: Texts,
    allow: Values,
}

impl SanitizeSettings {
    /// The plans for all trust levels.
    #[must_use]
    pub fn plans(&self) -> Plans {
        let mut plans = Plans::default();
        for level in TrustLevel::ALL {
            let said = match level {
                TrustLevel::Trusted => &self.trusted,
                TrustLevel::Local => &self.local,
                TrustLevel::External => &self.external,
            };
            self.apply(said, plans.at_mut(level));
        }
        plans
    }

    fn apply(&self, said: &Level, plan: &mut Plan) {
        for category in Category::ALL {
            if let Some(treatment) = said.of(category) {
                plan.set(category, treatment);
            }
        }
        plan.bytes_max = self.max_bytes.0;
        plan.tripwire = match self.tripwire {
            Wire::Sanitize => Tripwire::Sanitize,
            Wire::Block => Tripwire::Block,
        };
        // They were tried when the file was read.
        plan.phrases = Phrases::new(&self.phrases.0).unwrap_or_default();
        plan.allowed = Allowed::parse(&self.allow.0).unwrap_or_default();
    }
}

/// What is said for one trust level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Level {
    orders: Option<Word>,
    suspected: Option<Word>,
    hidden: Option<Bare>,
    secrets: Option<Bare>,
    personal: Option<Bare>,
    addresses: Option<Bare>,
}

impl Level {
    fn of(&self, category: Category) -> Option<Treatment> {
        match category {
            Category::Orders => self.orders.map(|it| it.0),
            Category::Suspected => self.suspected.map(|it| it.0),
            Category::Hidden => self.hidden.map(|it| it.0),
            Category::Secrets => self.secrets.map(|it| it.0),
            Category::Personal => self.personal.map(|it| it.0),
            Category::Addresses => self.addresses.map(|it| it.0),
        }
    }
}

/// A treatment, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word(Treatment);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let name = String::deserialize(input)?;
        let found = Treatment::ALL.into_iter().find(|it| it.as_str() == name);
        let wrong = || D::Error::custom("`label`, `wrap`, `clean` or `withhold`");
        found.map(Self).ok_or_else(wrong)
    }
}

/// A treatment of what marks around a text say nothing about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bare(Treatment);

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let Word(treatment) = Word::deserialize(input)?;
        match treatment {
            Treatment::Wrap => Err(D::Error::custom(
                "`wrap` is for `orders` and `suspected`; here `label`, `clean` or `withhold`",
            )),
            Treatment::Label | Treatment::Clean | Treatment::Withhold => Ok(Self(treatment)),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wire {
    #[default]
    Sanitize,
    Block,
}

/// A number of bytes, if one is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bytes(Option<usize>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let Number(number) = Number::deserialize(input)?;
        if number.fract() != 0.0 || !(BYTES_MIN..=BYTES_MAX).contains(&number) {
            let wrong = format!("a whole number from {BYTES_MIN} to {BYTES_MAX}");
            return Err(D::Error::custom(wrong));
        }
        Ok(Self(Some(number as usize)))
    }
}

/// Phrases that can be looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let texts = Vec::<String>::deserialize(input)?;
        Phrases::new(&texts).map_err(D::Error::custom)?;
        Ok(Self(texts))
    }
}

/// Lines of an allowlist that can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Values(String);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let lines = Vec::<String>::deserialize(input)?.join("\n");
        Allowed::parse(&lines).map_err(D::Error::custom)?;
        Ok(Self(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Global;
    use super::*;

    fn read(text: &str) -> Result<Plans, String> {
        let read = Global::parse(&format!("sanitize:\n  {text}\n"));
        read.map(|it| it.sanitize().plans()).map_err(|it| it.to_string())
    }

    #[test]
    fn what_is_said_is_done_and_the_rest_stays() {
        let plans =
            read("external: {orders: withhold, secrets: clean}\n  maxBytes: 65536").unwrap();
        assert_eq!(plans.external.orders, Treatment::Withhold);
        assert_eq!(plans.external.secrets, Treatment::Clean);
        assert_eq!(plans.external.suspected, Plan::of(TrustLevel::External).suspected);
        assert_eq!(plans.local.orders, Plan::of(TrustLevel::Local).orders);
        assert_eq!(plans.trusted.bytes_max, Some(65536));
        let plans = read("local: {addresses: clean}").unwrap();
        assert_eq!(plans.widest().addresses, Treatment::Clean);
        assert_eq!(plans.external.addresses, Treatment::Label);
        assert_eq!(read("tripwire: block").unwrap().local.tripwire, Tripwire::Block);
        let value = b"info@example.org";
        let plans = read(&format!("allow: [\"{}\"]", Allowed::line("email", value))).unwrap();
        assert!(plans.local.allowed.permits("email", value));
        assert!(!plans.local.allowed.permits("phone", value));
    }

    #[test]
    fn nothing_is_guessed() {
        for wrong in [
            "external: {orders: drop}",
            "external: {order: clean}",
            "outside: {orders: clean}",
            "external: {secrets: wrap}",
            "maxBytes: 10",
            "maxBytes: 99999999999",
            "maxBytes: \"65536\"",
            "tripwire: off",
            "phrases: [ab]",
            "phrases: text",
            "allow: email",
            "allow: [email info@example.org]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let many: Vec<String> = (0..65).map(|it| format!("phrase {it}")).collect();
        assert!(read(&format!("phrases: [{}]", many.join(", "))).is_err());
    }
}
