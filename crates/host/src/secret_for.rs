//! A secret that the operator has set up for one host: the key of a provider, the token of a messenger.
//!
//! INVARIANT (BoundToHosts): it is asked of the vault for each question, for the host that it goes to, and is written into
//! no error and no record.

use egress::AskError;
use model::WireError;
use monitor::{Permit, SERVICES};
use scan::net::{Host, Scheme, Target};
use vault::{Keeper, Name, ResolveError, Scope, Want};
use zeroize::Zeroizing;

/// The longest secret with what stands before it, in bytes: so its place never moves and leaves no copy behind.
pub(crate) const FIELD_BYTES_MAX: usize = 65 << 10;

/// A secret, where it is to go, and for what.
pub(crate) struct SecretFor<'a> {
    pub(crate) name: &'a Name,
    pub(crate) target: &'a Target,
    pub(crate) purpose: &'static str,
}

impl SecretFor<'_> {
    /// Returns it as `keeper` has it, behind `before`.
    pub(crate) fn resolved<E>(
        &self,
        keeper: Option<&Keeper>,
        permit: &Permit<E>,
        before: &str,
    ) -> Result<Zeroizing<String>, WireError> {
        let Self { name, target, purpose } = *self;
        let set = format!("lazaret vault set {name} --host {}", binding(target));
        let Some(keeper) = keeper else {
            return Err(WireError::Key(format!(
                "nobody keeps the secret `{name}`: the operator makes a vault with `lazaret vault init`, and then `{set}`"
            )));
        };
        let want = Want { name, domain: SERVICES, target, purpose };
        // No agent chooses it: the operator has set the host up.
        let found = keeper.resolve(permit, &Scope::Host, &want);
        let missed = |error: ResolveError| {
            WireError::Key(if matches!(error, ResolveError::Elsewhere { .. }) {
                format!(
                    "the secret `{name}` is for another host; the operator binds it with `{set}`"
                )
            } else if matches!(error, ResolveError::Missing(_)) {
                format!("there is no secret `{name}`; the operator sets it with `{set}`")
            } else {
                error.to_string()
            })
        };
        let (secret, _) = found.map_err(missed)?;
        let mut value = Zeroizing::new(String::with_capacity(FIELD_BYTES_MAX));
        value.push_str(before);
        value.push_str(secret.reveal(permit));
        Ok(value)
    }
}

/// The host as a secret is bound to it: with its port where that is another, and with `http://` where it says so.
pub(crate) fn binding(target: &Target) -> String {
    let port = match target.port() == target.scheme().default_port() {
        true => String::new(),
        false => format!(":{}", target.port()),
    };
    let host = match target.host() {
        Host::Address(std::net::IpAddr::V6(address)) => format!("[{address}]"),
        Host::Address(_) | Host::Name(_) => target.host().to_string(),
    };
    match target.scheme() {
        Scheme::Https => format!("{host}{port}"),
        Scheme::Http => format!("http://{host}{port}"),
    }
}

/// Why a question was not answered, as `clean` lets it be said.
pub(crate) fn not_sent(error: AskError, clean: impl Fn(&str) -> String) -> WireError {
    match error {
        AskError::Refused(it) => WireError::Refused(clean(&it.to_string())),
        AskError::Failed(it) | AskError::Unanswered(it) => WireError::Broken(clean(&it)),
    }
}
