//! Messengers that call us: a call counts if it is signed with the secret that only they and we have.
//!
//! Threats: anybody who knows our address, a call that was signed long ago, a signature that is found out byte by byte.

use std::sync::{MutexGuard, PoisonError};

use aws_lc_rs::{constant_time, hmac};
use channel::{Inbound, SlackCall, WireError};
use model::ToolCall;
use monitor::Permit;
use vault::Name;
use zeroize::Zeroizing;

use super::line::{Line, Messenger};

/// How old a signature may be, and how far ahead of our clock, in seconds.
const AGE_SECONDS_MAX: i64 = 300;
/// The longest signature, in bytes.
const SIGNATURE_BYTES_MAX: usize = 128;

/// By which calls are known.
pub(super) struct Verifier {
    signs: hmac::Key,
    shows: Option<Zeroizing<String>>,
}

/// A verifier that counts, until this is dropped.
pub(super) struct Installed<'a>(&'a Line);

/// What the head of a call says of its signature.
struct Signed<'a> {
    /// What is signed before the body.
    before: String,
    signature: &'a str,
}

/// What a call comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hooked {
    /// This is the answer.
    Answer(String),
    /// These were said.
    Said(Vec<Inbound>),
}

/// Why a call does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookRefused {
    /// The messenger is not listened to, or never calls.
    #[error("nobody listens")]
    Nobody,
    /// It is not signed, not by them, or too long ago.
    #[error("the signature is none")]
    Signature,
    /// It is signed, and not understood.
    #[error("the call is not understood")]
    NotUnderstood,
}

impl Line {
    /// Reads the secrets by which calls of the messenger are known.
    pub(super) fn new_verifier(&self, permit: &Permit<ToolCall>) -> Result<Verifier, WireError> {
        let secret = |name: &Option<String>| {
            let name = name.as_deref().map(Name::parse).transpose();
            let name = name.map_err(|it| WireError::Key(it.to_string()))?;
            name.map(|it| self.secret(permit, &it)).transpose()
        };
        let missing = || WireError::Key("no secret is named".to_owned());
        let signs = secret(&self.settings.signing_secret)?.ok_or_else(missing)?;
        let signs = hmac::Key::new(hmac::HMAC_SHA256, signs.as_bytes());
        Ok(Verifier { signs, shows: secret(&self.settings.verify_token)? })
    }

    pub(super) fn install(&self, verifier: Verifier) -> Installed<'_> {
        *self.verifier() = Some(verifier);
        Installed(self)
    }

    /// Looks at the head of a call, before anything else of it is read.
    ///
    /// # Errors
    /// If the call cannot count, whatever its body is.
    pub fn announced<'a>(
        &self,
        field: impl Fn(&str) -> Option<&'a str>,
        now: i64,
    ) -> Result<(), HookRefused> {
        let signed = self.signed(field, now)?;
        if self.verifier().is_none() {
            return Err(HookRefused::Nobody);
        }
        if signed.signature.len() > SIGNATURE_BYTES_MAX {
            return Err(HookRefused::Signature);
        }
        Ok(())
    }

    /// Takes a call of the messenger, at a moment in seconds since 1970. `field` gives header fields by their names in
    /// small letters.
    ///
    /// # Errors
    /// If it does not count.
    pub fn called<'a>(
        &self,
        field: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
        now: i64,
    ) -> Result<Hooked, HookRefused> {
        let Signed { before, signature } = self.signed(field, now)?;
        self.check(&[before.as_bytes(), body], signature)?;
        match &self.kind {
            Messenger::Slack(it) => match it.called(body) {
                Ok(SlackCall::Challenge(word)) => Ok(Hooked::Answer(word)),
                Ok(SlackCall::Said(said)) => Ok(Hooked::Said(said)),
                Err(_) => Err(HookRefused::NotUnderstood),
            },
            Messenger::WhatsApp(it) => {
                it.called(body).map(Hooked::Said).map_err(|_| HookRefused::NotUnderstood)
            }
            Messenger::Telegram(_) | Messenger::Discord(_) => Err(HookRefused::Nobody),
        }
    }

    /// What the head of a call says of its signature.
    fn signed<'a>(
        &self,
        field: impl Fn(&str) -> Option<&'a str>,
        now: i64,
    ) -> Result<Signed<'a>, HookRefused> {
        let (prefix, before, given) = match &self.kind {
            Messenger::Slack(_) => {
                let at = field("x-slack-request-timestamp").ok_or(HookRefused::Signature)?;
                let number: i64 = at.parse().map_err(|_| HookRefused::Signature)?;
                let age = now.checked_sub(number).ok_or(HookRefused::Signature)?;
                if age.checked_abs().is_none_or(|it| it > AGE_SECONDS_MAX) {
                    return Err(HookRefused::Signature);
                }
                ("v0=", format!("v0:{number}:"), field("x-slack-signature"))
            }
            Messenger::WhatsApp(_) => ("sha256=", String::new(), field("x-hub-signature-256")),
            Messenger::Telegram(_) | Messenger::Discord(_) => return Err(HookRefused::Nobody),
        };
        let given = given.and_then(|it| it.strip_prefix(prefix));
        Ok(Signed { before, signature: given.ok_or(HookRefused::Signature)? })
    }

    /// Returns the word that the messenger wants back when it is set up, if it shows the secret for that.
    ///
    /// # Errors
    /// If it does not.
    pub fn introduced(
        &self,
        mode: &str,
        shown: &str,
        challenge: &str,
    ) -> Result<String, HookRefused> {
        let verifier = self.verifier();
        let verifier = verifier.as_ref().ok_or(HookRefused::Nobody)?;
        let secret = verifier.shows.as_ref().ok_or(HookRefused::Nobody)?;
        let same =
            constant_time::verify_slices_are_equal(secret.as_bytes(), shown.as_bytes()).is_ok();
        let plain = challenge.bytes().all(|it| it.is_ascii_alphanumeric());
        let good = same && mode == "subscribe" && plain && challenge.len() <= SIGNATURE_BYTES_MAX;
        good.then(|| challenge.to_owned()).ok_or(HookRefused::Signature)
    }

    fn check(&self, parts: &[&[u8]], given: &str) -> Result<(), HookRefused> {
        let verifier = self.verifier();
        let verifier = verifier.as_ref().ok_or(HookRefused::Nobody)?;
        if given.len() > SIGNATURE_BYTES_MAX {
            return Err(HookRefused::Signature);
        }
        let given = data_encoding::HEXLOWER.decode(given.as_bytes());
        let given = given.map_err(|_| HookRefused::Signature)?;
        let signed = parts.concat();
        hmac::verify(&verifier.signs, &signed, &given).map_err(|_| HookRefused::Signature)
    }

    fn verifier(&self) -> MutexGuard<'_, Option<Verifier>> {
        self.verifier.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Installed<'_> {
    fn drop(&mut self) {
        *self.0.verifier() = None;
    }
}
