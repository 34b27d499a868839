//! Before any route: the name we are called by, the page that calls, the path, tokens in addresses, and who calls
//! from where.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use policy::access::{Networks, ServeSettings};
use serde_json::json;

use crate::app::App;
use crate::log::{About, Event};
use crate::metrics::route;
use crate::refusal::Refusal;

/// Where a connection comes from, as the system says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Where a request comes from: the connection, or what a proxy of ours says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From(pub(crate) IpAddr);

/// The most addresses of `X-Forwarded-For` that are looked at.
const FORWARDED_MAX: usize = 32;

/// Fields that are there once or not at all.
const ONCE: [HeaderName; 4] =
    [header::HOST, header::AUTHORIZATION, header::ORIGIN, header::CONTENT_LENGTH];

/// Lets a request in, or says why not.
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let directory = app.directory();
    let method = method(request.method());
    let path = request.uri().path().to_owned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let checked = checked(&app, &directory.settings, &request);
    let mut response = match checked {
        Err(refusal) => refusal.into_response(),
        Ok(from) if request.method() == Method::OPTIONS && origin.is_some() => {
            let _ = from;
            preflight()
        }
        Ok(from) => {
            request.extensions_mut().insert(from);
            next.run(request).await
        }
    };
    let allowed = origin.filter(|it| is_allowed_origin(&directory.settings, it));
    let headers = response.headers_mut();
    if let Some(origin) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
    for (name, value) in ALWAYS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let status = response.status().as_u16();
    app.metrics.answered(&path, status);
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Neither the path nor the words of whoever asks: a kind of route, and numbers.
    let details =
        json!({ "method": method, "route": route(&path).as_str(), "status": status, "ms": ms });
    app.log(Event::RequestAnswered, About::default(), details);
    response
}

/// A method that there is here, and one word for all others.
fn method(it: &Method) -> &'static str {
    match it.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "HEAD" => "HEAD",
        _ => "other",
    }
}

/// What every answer says.
const ALWAYS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::REFERRER_POLICY, "no-referrer"),
];

fn checked(app: &App, settings: &ServeSettings, request: &Request) -> Result<From, Refusal> {
    let headers = request.headers();
    if ONCE.iter().any(|it| headers.get_all(it).iter().count() > 1) {
        return Err(Refusal::bad("a field of the head is there twice"));
    }
    check_host(app, settings, request)?;
    if is_fetched_by_foreign_page(headers, request.uri().query()) {
        let why = "pages of other sites may not call";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "origin_refused", why));
    }
    if headers.get(header::ORIGIN).is_some_and(|it| !is_allowed_origin(settings, it)) {
        let why = "pages of this origin may not call; see `serve.allowedOrigins`";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "origin_refused", why));
    }
    check_path(request.uri().path())?;
    if has_token(request.uri().query().unwrap_or_default())
        && !(settings.allow_query_token.0 && request.uri().path() == "/ws")
    {
        return Err(Refusal::bad("tokens do not belong in addresses, which end up in logs"));
    }
    let peer = request.extensions().get::<Peer>().ok_or_else(Refusal::broken)?;
    Ok(From(address(peer.0, headers, &settings.behind_proxy)))
}

/// Is it us who are called? A page that made its name point here is told by the name.
fn check_host(app: &App, settings: &ServeSettings, request: &Request) -> Result<(), Refusal> {
    let misdirected = || {
        let status = StatusCode::MISDIRECTED_REQUEST;
        Refusal::new(
            status,
            "host_refused",
            "this is no name of this server; see `serve.allowedHosts`",
        )
    };
    let host = request.headers().get(header::HOST).and_then(|it| it.to_str().ok());
    let host = host.map(str::to_ascii_lowercase).ok_or_else(misdirected)?;
    if request.uri().authority().is_some_and(|it| !it.as_str().eq_ignore_ascii_case(&host)) {
        return Err(misdirected());
    }
    let port = app.address.port();
    let own = [
        app.address.to_string(),
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
    ];
    let named = |it: &String| *it == host || format!("{it}:{port}") == host;
    if own.contains(&host) || settings.allowed_hosts.0.iter().any(named) {
        return Ok(());
    }
    Err(misdirected())
}

/// A path has one reading: letters, and no way up.
fn check_path(path: &str) -> Result<(), Refusal> {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"/-_.:~".contains(&it);
    let up = |it: &str| it == ".." || it == ".";
    if path.bytes().all(plain) && !path.split('/').any(up) && !path.contains("//") {
        return Ok(());
    }
    Err(Refusal::bad("a path has letters, digits and `-_.:~`, each part once"))
}

/// Does a page of another site fetch it, without saying which? An image or a frame has no `Origin`; browsers say where it stands, and
/// pages cannot change that. A link that somebody follows is no such thing, unless it brings something along, such as a ticket.
fn is_fetched_by_foreign_page(headers: &HeaderMap, query: Option<&str>) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|it| it == value);
    let is_foreign = is("sec-fetch-site", "cross-site") && !headers.contains_key(header::ORIGIN);
    is_foreign && (query.is_some() || !is("sec-fetch-dest", "document"))
}

fn is_allowed_origin(settings: &ServeSettings, origin: &HeaderValue) -> bool {
    let origin = origin.to_str().map(str::to_ascii_lowercase).unwrap_or_default();
    settings.allowed_origins.0.contains(&origin)
}

/// Is there a token in a query, however it is spelled?
fn has_token(query: &str) -> bool {
    query.split(['&', ';']).any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        let name = percent_decoded(name).to_ascii_lowercase();
        matches!(name.trim(), "token" | "access_token" | "api_key" | "apikey")
    })
}

/// The value of a parameter of a query.
pub(crate) fn parameter(query: Option<&str>, wanted: &str) -> Option<String> {
    let mut found = query.unwrap_or_default().split('&').filter_map(|it| {
        let (name, value) = it.split_once('=')?;
        (percent_decoded(name) == wanted).then(|| percent_decoded(value))
    });
    let first = found.next();
    // Twice is no value.
    if found.next().is_some() { None } else { first }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let digit = |it: Option<u8>| it.and_then(|it| char::from(it).to_digit(16));
        match byte {
            b'+' => out.push(b' '),
            b'%' => match (digit(bytes.next()), digit(bytes.next())) {
                (Some(high), Some(low)) => {
                    out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                }
                _ => out.push(b'%'),
            },
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Where a request comes from: behind proxies of ours the rightmost address that is none of them.
pub(crate) fn address(peer: IpAddr, headers: &HeaderMap, proxies: &Networks) -> IpAddr {
    if !proxies.contain(peer) {
        return peer;
    }
    let fields = headers.get_all("x-forwarded-for");
    let all: Vec<&str> = fields.iter().filter_map(|it| it.to_str().ok()).collect();
    let mut nearest = peer;
    for text in all.iter().rev().flat_map(|it| it.rsplit(',')).take(FORWARDED_MAX) {
        let Ok(address) = text.trim().parse::<IpAddr>() else { break };
        nearest = address.to_canonical();
        if !proxies.contain(nearest) {
            break;
        }
    }
    nearest
}
