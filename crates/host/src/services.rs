//! Services that agents call in the user's name, as the operator has defined them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use egress::{Client, Limits, Post, Rules, ServiceKeys, Trust, TrustError, Web};
use evidence::Journal;
use hyper::header::HeaderValue;
use model::ipc::OauthCall;
use monitor::{Output, Permit, SERVICES};
use policy::access::{Global, Service as Definition};
use scan::net::{DomainError, Inner, Refused, Target};
use url::form_urlencoded::Serializer;
use vault::{Keeper, Name, NameError, Scope, Secret, Want};
use zeroize::Zeroizing;

use crate::web::dialer_of;

/// The services of one session.
pub struct Services {
    web: Web,
    rules: Rules,
    keeper: Arc<Keeper>,
    scope: Scope,
    all: BTreeMap<String, Service>,
}

struct Service {
    way: egress::Service,
    token: Name,
    prefix: String,
    refresh: Option<Refresh>,
    /// Held by who asks for a new token.
    refreshing: Mutex<()>,
}

struct Refresh {
    target: Target,
    token: Name,
    client_id: Option<String>,
    client_secret: Option<Name>,
}

/// Why services cannot be called as they are defined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServicesError {
    /// A definition.
    #[error("the service `{name}`: {error}")]
    Definition {
        /// Which.
        name: String,
        /// What is wrong.
        error: String,
    },
    /// Nobody vouches for servers.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// What is blocked is not understood.
    #[error(transparent)]
    Blocked(#[from] DomainError),
    /// The system gives no threads.
    #[error("no threads for services: {0}")]
    Io(#[from] std::io::Error),
}

impl Services {
    /// The services in `settings`, for a session of this scope and reach.
    ///
    /// # Errors
    /// If one is not defined well, or there is no way to them.
    pub fn new(
        settings: Option<&Global>,
        keeper: Arc<Keeper>,
        scope: Scope,
        rules: Rules,
        journal: Arc<Journal>,
    ) -> Result<Self, ServicesError> {
        let limits = Limits::default();
        let client = Client::new(Arc::new(dialer_of(settings, &limits)?), &Trust::System, limits)?;
        Self::with_web(settings, keeper, scope, rules, Web::new(client, journal, None)?)
    }

    /// The same by another way out.
    ///
    /// # Errors
    /// If one is not defined well.
    pub fn with_web(
        settings: Option<&Global>,
        keeper: Arc<Keeper>,
        scope: Scope,
        rules: Rules,
        web: Web,
    ) -> Result<Self, ServicesError> {
        let defined = settings.into_iter().flat_map(Global::services).map(|(name, it)| {
            let wrong = |error: String| ServicesError::Definition { name: name.to_owned(), error };
            Ok((name.to_owned(), Service::of(it, &rules.inner).map_err(wrong)?))
        });
        let all = defined.collect::<Result<_, ServicesError>>()?;
        Ok(Self { web, rules, keeper, scope, all })
    }

    /// The names of those whose token this session could be given.
    pub(crate) fn names(&self) -> Vec<&str> {
        let within = |it: &Service| self.scope.could_give(it.token.as_str(), SERVICES);
        self.all.iter().filter(|it| within(it.1)).map(|it| it.0.as_str()).collect()
    }

    /// Calls the service that `permit` permits to call.
    pub(crate) fn call(&self, permit: Permit<OauthCall>) -> Output {
        let name = permit.effect().service.as_str();
        let Some(service) = self.all.get(name) else {
            return Output::not_begun("there is no such service; the operator defines them");
        };
        let keys = Keys { service, keeper: &self.keeper, scope: &self.scope };
        self.web.call(permit, &self.rules, &service.way, &keys)
    }
}

impl Service {
    fn of(definition: &Definition, inner: &Inner) -> Result<Self, String> {
        let way = egress::Service::new(&definition.url, &definition.header, inner);
        let name = |it: &str| Name::parse(it).map_err(|it: NameError| it.to_string());
        let refresh = definition.refresh.as_ref().map(|it| {
            Ok::<_, String>(Refresh {
                target: Target::within(&it.url, inner).map_err(|it: Refused| it.to_string())?,
                token: name(&it.token)?,
                client_id: it.client_id.clone(),
                client_secret: it.client_secret.as_deref().map(name).transpose()?,
            })
        });
        Ok(Self {
            way: way.map_err(|it| it.to_string())?,
            token: name(&definition.token)?,
            prefix: definition.prefix.clone(),
            refresh: refresh.transpose()?,
            refreshing: Mutex::new(()),
        })
    }
}

/// The keys of one service, for one call.
struct Keys<'a> {
    service: &'a Service,
    keeper: &'a Keeper,
    scope: &'a Scope,
}

impl Keys<'_> {
    fn secret(
        &self,
        permit: &Permit<OauthCall>,
        name: &Name,
        target: &Target,
        purpose: &str,
    ) -> Result<(Arc<Secret>, u64), String> {
        let want = Want { name, domain: SERVICES, target, purpose };
        self.keeper.resolve(permit, self.scope, &want).map_err(|it| it.to_string())
    }

    fn form(
        &self,
        permit: &Permit<OauthCall>,
        refresh: &Refresh,
    ) -> Result<Zeroizing<String>, String> {
        let of = |name: &Name| self.secret(permit, name, &refresh.target, "oauth_refresh");
        let (token, _) = of(&refresh.token)?;
        let client_secret = refresh.client_secret.as_ref().map(of).transpose()?;
        // Large enough that it never moves and leaves no copy behind.
        let mut form = Serializer::new(String::with_capacity(256 << 10));
        form.append_pair("grant_type", "refresh_token");
        form.append_pair("refresh_token", token.reveal(permit));
        if let Some(id) = &refresh.client_id {
            form.append_pair("client_id", id);
        }
        if let Some((secret, _)) = &client_secret {
            form.append_pair("client_secret", secret.reveal(permit));
        }
        Ok(Zeroizing::new(form.finish()))
    }
}

impl ServiceKeys for Keys<'_> {
    fn token(
        &self,
        permit: &Permit<OauthCall>,
        target: &Target,
    ) -> Result<(HeaderValue, u64), String> {
        let name = &self.service.token;
        let (secret, version) = self.secret(permit, name, target, "oauth_call")?;
        let prefix = &self.service.prefix;
        let mut text = Zeroizing::new(String::with_capacity(prefix.len() + (64 << 10)));
        text.push_str(prefix);
        text.push_str(secret.reveal(permit));
        let value = HeaderValue::try_from(text.as_str());
        value.map(|it| (it, version)).map_err(|_| format!("the secret `{name}` is no token"))
    }

    fn refresh(
        &self,
        permit: &Permit<OauthCall>,
        used: u64,
        post: &Post<'_>,
    ) -> Result<bool, String> {
        let Some(refresh) = &self.service.refresh else { return Ok(false) };
        // INVARIANT (OneRefresh): here one at a time, and one process at a time; who waited looks first whether
        // there is a new token already.
        let _here = self.service.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let busy = |_| "another process does not finish asking for a new token".to_owned();
        let _anywhere = self.keeper.refreshing().map_err(busy)?;
        if self.keeper.version(&self.service.token).is_some_and(|it| it > used) {
            return Ok(true);
        }
        let form = self.form(permit, refresh)?;
        let new = post(&refresh.target, form)?;
        let no_token = |_| "the service's new token is none that can be kept".to_owned();
        let mut values =
            vec![(self.service.token.clone(), Secret::new(new.access).map_err(no_token)?)];
        if let Some(next) = new.refresh {
            values.push((refresh.token.clone(), Secret::new(next).map_err(no_token)?));
        }
        let kept = self.keeper.store(permit, values);
        kept.map_err(|_| "the service's new token could not be kept".to_owned())?;
        Ok(true)
    }
}
