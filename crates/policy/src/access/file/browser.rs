//! The browser: `config.yaml`, the part under `browser`.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{Label, Number};

/// How browsers are started. Which program that may be is said by a fixed list of places, not here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Browser {
    /// One of the known places of a browser; the first that is there if nothing is said.
    #[serde(default, deserialize_with = "program")]
    pub program: Option<String>,
    /// Browsers of one session at once.
    #[serde(default, deserialize_with = "per_session")]
    pub per_session: Option<u16>,
    /// A browser that nobody uses for so long ends, in seconds.
    #[serde(default, deserialize_with = "idle_seconds")]
    pub idle_seconds: Option<u16>,
}

fn program<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Label::deserialize(input).map(|it| Some(it.0))
}

fn per_session<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u16>, D::Error> {
    between(input, 1, 8)
}

fn idle_seconds<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u16>, D::Error> {
    between(input, 10, 3600)
}

fn between<'de, D: Deserializer<'de>>(
    input: D,
    least: u16,
    most: u16,
) -> Result<Option<u16>, D::Error> {
    let Number(number) = Number::deserialize(input)?;
    let whole = number as u16;
    if f64::from(whole) == number && (least..=most).contains(&whole) {
        return Ok(Some(whole));
    }
    Err(D::Error::custom(format!("`{number}` is not a whole number from {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::super::Global;

    fn browser(text: &str) -> Result<super::Browser, String> {
        Global::parse(text).map(|it| it.browser().clone()).map_err(|it| it.to_string())
    }

    #[test]
    fn what_is_said_counts_and_nothing_else_can_be_said() {
        let said =
            "browser:\n  program: /usr/lib/chromium/chromium\n  perSession: 3\n  idleSeconds: 60\n";
        let found = browser(said).unwrap();
        assert_eq!(found.program.as_deref(), Some("/usr/lib/chromium/chromium"));
        assert_eq!((found.per_session, found.idle_seconds), (Some(3), Some(60)));
        for wrong in [
            "perSession: 0",
            "perSession: 9",
            "perSession: 1.5",
            "perSession: \"2\"",
            "perSession: -1",
            "perSession: 65537",
            "idleSeconds: 9",
            "idleSeconds: 3601",
            "program: \"\"",
            "program: [a]",
            "flags: --no-sandbox",
            "args: []",
            "env: {}",
        ] {
            assert!(browser(&format!("browser:\n  {wrong}\n")).is_err(), "{wrong}");
        }
    }
}
