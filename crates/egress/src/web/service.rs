//! `oauth_call`: a service is called in the user's name. The token is put in here, goes to the service's own
//! host, and is not carried anywhere else.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use model::ipc::{OauthCall, OauthMethod};
use monitor::{Output, Permit, Status};
use scan::net::{Inner, Refused, Rule, Target};
use serde_json::Value;
use zeroize::Zeroizing;

use super::fetch::told;
use super::path::below;
use super::{Web, correlation, failed, total};
use crate::client::{Answer, Ask, AskError};
use crate::headers;
use crate::rules::Rules;

/// What a body is if nobody says so.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// What a question for a new token is.
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
/// Fields by which a service knows who asks. They are ours to set.
const WHO: &[&str] = &["authorization", "cookie", "x-api-key", "x-auth-token", "private-token"];
/// Fields that ask for a piece of an answer: of a secret in pieces nobody knows that it is one.
const PIECES: &[&str] = &["range", "if-range"];
/// The longest token that a service may give, in bytes.
const TOKEN_BYTES_MAX: usize = 16 << 10;

/// A service as the operator has defined it.
pub struct Service {
    base: Target,
    header: HeaderName,
}

/// Why a definition is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// Its address leads inside.
    #[error(transparent)]
    Address(#[from] Refused),
    /// Its header field is none.
    #[error("`{0}` is no header field")]
    Field(String),
}

/// Keeps the keys of one service. Each is revealed after the permit, for the host that it goes to.
pub trait ServiceKeys {
    /// The value of the field by which the service knows the user, and which version of the token that is.
    ///
    /// # Errors
    /// If there is none for this call; the text is told to the agent.
    fn token(
        &self,
        permit: &Permit<OauthCall>,
        target: &Target,
    ) -> Result<(HeaderValue, u64), String>;

    /// Has a new token made after version `used` was refused, and keeps it. `post` sends a form. Answers whether
    /// there is one now.
    ///
    /// # Errors
    /// If it should have worked and did not; the text is told to the agent.
    fn refresh(
        &self,
        permit: &Permit<OauthCall>,
        used: u64,
        post: &Post<'_>,
    ) -> Result<bool, String>;
}

/// Sends a form to an address and takes the tokens out of the answer.
pub type Post<'a> = dyn Fn(&Target, Zeroizing<String>) -> Result<NewTokens, String> + 'a;

/// What a service gives in exchange for a refresh token.
pub struct NewTokens {
    /// The new token.
    pub access: Zeroizing<String>,
    /// The refresh token for the next time, if it is another.
    pub refresh: Option<Zeroizing<String>>,
}

impl Service {
    /// A service at `url`, outside or at a host that the operator has opened, which knows the user by the field `header`.
    ///
    /// # Errors
    /// If the address leads inside, or the field is none.
    pub fn new(url: &str, header: &str, inner: &Inner) -> Result<Self, ServiceError> {
        let field = HeaderName::try_from(header);
        let header = field.map_err(|_| ServiceError::Field(header.to_owned()))?;
        Ok(Self { base: Target::within(url, inner)?, header })
    }
}

impl Web {
    /// Calls `service` as `permit` permits, as far as `rules` go, with a token that `keys` give.
    pub fn call(
        &self,
        permit: Permit<OauthCall>,
        rules: &Rules,
        service: &Service,
        keys: &dyn ServiceKeys,
    ) -> Output {
        match self.try_call(&permit, rules, service, keys) {
            Ok(output) | Err(output) => {
                drop(permit.spend());
                output
            }
        }
    }

    fn try_call(
        &self,
        permit: &Permit<OauthCall>,
        rules: &Rules,
        service: &Service,
        keys: &dyn ServiceKeys,
    ) -> Result<Output, Output> {
        let asked = permit.effect();
        let refused = |it| failed(&AskError::Refused(it));
        let target = below(&service.base, asked.path.as_str()).map_err(refused)?;
        let fields = fields(asked, service).map_err(refused)?;
        // Where it may not go, no token is asked for.
        rules.check_method(&method(asked.method)).map_err(refused)?;
        rules.check(&target).map_err(refused)?;
        let once = |fields: HeaderMap| -> Result<(Answer, u64), Output> {
            let (mut value, version) = keys.token(permit, &target).map_err(Output::not_begun)?;
            value.set_sensitive(true);
            let mut headers = fields;
            headers.insert(service.header.clone(), value);
            let ask = self.to_service(permit, rules, target.clone(), headers)?;
            let mut hops = 0;
            let answer =
                self.ask(permit, &self.client, ask, &mut hops).map_err(|it| failed(&it))?;
            Ok((answer, version))
        };
        let (mut answer, version) = once(fields.clone())?;
        if answer.status == StatusCode::UNAUTHORIZED {
            let post = |to: &Target, form: Zeroizing<String>| {
                self.exchange(permit, to, &form, &rules.inner)
            };
            let no = |why: String| Output { status: Status::Failed, ..Output::text(why) };
            if keys.refresh(permit, version, &post).map_err(no)? {
                answer = once(fields)?.0;
            }
        }
        if answer.status.is_redirection() {
            let status = answer.status.as_u16();
            let why = format!(
                "the service answered with a redirect ({status}), and a token goes to no other address; ask for the path that it means"
            );
            return Err(Output { status: Status::Failed, ..Output::text(why) });
        }
        told(&answer, target.url(), &permit.scrubs())
    }

    fn to_service<'a>(
        &self,
        permit: &'a Permit<OauthCall>,
        rules: &'a Rules,
        target: Target,
        headers: HeaderMap,
    ) -> Result<Ask<'a>, Output> {
        let asked = permit.effect();
        let body = asked.body.as_ref().map(|it| Bytes::copy_from_slice(it.as_str().as_bytes()));
        Ok(Ask {
            tool: "oauth_call",
            session: permit.who().session.as_str(),
            correlation: correlation()?,
            target,
            method: method(asked.method),
            headers,
            body: body.unwrap_or_default(),
            follows: false,
            rules,
            total: total(None, self.client.limits().total),
        })
    }

    /// Asks for a new token. The operator has said where; what an agent may reach has nothing to do with it.
    fn exchange(
        &self,
        permit: &Permit<OauthCall>,
        target: &Target,
        form: &str,
        inner: &Inner,
    ) -> Result<NewTokens, String> {
        let no = || "the service gave no new token".to_owned();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, FORM);
        headers.insert(hyper::header::ACCEPT, JSON);
        let rules = Rules { inner: inner.clone(), ..Rules::default() };
        let ask = Ask {
            tool: "oauth_refresh",
            session: permit.who().session.as_str(),
            correlation: correlation().map_err(|it| it.body)?,
            target: target.clone(),
            method: Method::POST,
            headers,
            body: Bytes::copy_from_slice(form.as_bytes()),
            follows: false,
            rules: &rules,
            total: total(None, self.client.limits().total),
        };
        let mut hops = 0;
        let answer = self.ask(permit, &self.client, ask, &mut hops).map_err(|_| no())?;
        let body = Zeroizing::new(answer.body);
        if !answer.status.is_success() {
            // What it says may repeat what it was asked.
            return Err(format!("{} ({})", no(), answer.status.as_u16()));
        }
        let mut value: Value = serde_json::from_slice(&body).map_err(|_| no())?;
        let mut take = |name: &str| match value.get_mut(name).map(Value::take) {
            Some(Value::String(text)) => Some(Zeroizing::new(text)),
            Some(_) | None => None,
        };
        let fits = |it: &Zeroizing<String>| it.len() <= TOKEN_BYTES_MAX;
        let access = take("access_token").filter(fits).ok_or_else(no)?;
        Ok(NewTokens { access, refresh: take("refresh_token").filter(fits) })
    }
}

/// The fields that the agent wants, without any by which a service could take it for somebody.
fn fields(asked: &OauthCall, service: &Service) -> Result<HeaderMap, Refused> {
    let wanted = asked.headers.iter().flat_map(|it| it.iter());
    let mut fields = headers::of_caller(wanted)?;
    let header = headers::dashed(service.header.as_str());
    let named = |wanted: &dyn Fn(&str) -> bool| {
        fields.keys().find(|it| wanted(&headers::dashed(it.as_str())))
    };
    if let Some(name) = named(&|it| WHO.contains(&it) || it == header) {
        let reason =
            format!("the header field `{name}` says who asks, and is not for callers to set");
        return Err(Refused { rule: Rule::ServiceHeader, reason });
    }
    if let Some(name) = named(&|it| PIECES.contains(&it)) {
        let reason = format!("the header field `{name}` asks for a piece; ask for the whole");
        return Err(Refused { rule: Rule::ServiceHeader, reason });
    }
    if asked.body.is_some() {
        fields.entry(CONTENT_TYPE).or_insert(JSON);
    }
    Ok(fields)
}

fn method(method: OauthMethod) -> Method {
    match method {
        OauthMethod::Get => Method::GET,
        OauthMethod::Post => Method::POST,
        OauthMethod::Put => Method::PUT,
        OauthMethod::Patch => Method::PATCH,
        OauthMethod::Delete => Method::DELETE,
    }
}

#[cfg(test)]
mod tests {
    use model::ipc::{self, Action};
    use serde_json::json;

    use super::*;

    fn refused(name: &str, header: &str) -> bool {
        let service = Service::new("https://api.example.com/", header, &Inner::default()).unwrap();
        let message = json!({
            "action": "oauth_call", "service": "api", "method": "GET", "path": "/",
            "headers": { name: "x" },
        });
        let action = ipc::parse(message.to_string().as_bytes()).unwrap();
        let Action::OauthCall(asked) = action else { return false };
        fields(&asked, &service).is_err()
    }

    #[test]
    fn who_asks_is_said_by_no_field_in_either_spelling() {
        for name in ["authorization", "X-Api-Key", "x_api_key", "private_token", "if_range"] {
            assert!(refused(name, "authorization"), "{name}");
        }
        assert!(refused("x_own_key", "x-own-key") && refused("x-own-key", "x_own_key"));
        assert!(!refused("accept", "x-own-key"));
    }
}
