//! `lazaret mcp login`: a person logs in to a server with an address.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::mcp::http::client::oauth::{self, Challenge, Discovered, Pending, Tokens};
use data_encoding::HEXLOWER;
use egress::{Piece, Question, Verb};
use evidence::{Clock as _, SystemClock};
use host::doors::mcp::LOGIN_PREFIX;
use host::remote_server::Found;
use host::remote_server::logins::{self, Login};
use host::{NamedWay, OpenedBy};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::Url;
use vault::{Contents, Name, Secret, VaultFile};
use zeroize::Zeroizing;

use super::callback;
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Log in to an MCP server with an address, by OAuth.
///
/// The server says who issues its tokens; you are shown the address at which you log in there, and come back to a port of
/// this machine. The tokens are kept in the vault, for this server's address alone, and are renewed when they end.
///
/// Try it:
///   lazaret mcp login notes --url https://mcp.example.com/mcp
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(in crate::mcp) struct LoginArgs {
    #[command(flatten)]
    home: Home,
    /// The server, as its configuration names it.
    #[arg(value_name = "SERVER")]
    server: String,
    /// Its address; that of the last login without it.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The id under which we are known to the issuer, or the https address of a document about us [default: we register]
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The port of this machine that you come back to [default: any]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// What is asked for [default: what the server wants]
    #[arg(long, value_name = "SCOPES")]
    scope: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

/// Bytes of a digest that tell the secrets of two logins apart.
const DIGEST_BYTES: usize = 4;
/// Time for the first question.
const CHALLENGE_WAIT: Duration = Duration::from_secs(30);

pub(in crate::mcp) fn run(args: &LoginArgs) -> Result<Exit, Failure> {
    ::mcp::names::check_server(&args.server).map_err(Failure::usage)?;
    let home = args.home.dir()?;
    let url = match &args.url {
        Some(url) => url.clone(),
        None => {
            let earlier = logins::find(&home, &args.server, None).map_err(Failure::unable)?;
            let earlier = earlier.map(|it| it.url);
            earlier.ok_or_else(|| Failure::usage("name the server's address with --url"))?
        }
    };
    // Opened before anybody logs in, so that nobody does for nothing.
    let file = VaultFile::in_home(&home);
    let key = vault::unlock(&file, None).map_err(Failure::unable)?;
    let way = NamedWay::to(&home, &url, OpenedBy::CommandLine).map_err(Failure::usage)?;
    let fetch = Found { way: &way };
    let challenge = challenge(&way)?;
    let endpoint = way.endpoint().url();
    let mut discovered = oauth::discover(&fetch, endpoint, &challenge).map_err(Failure::refused)?;
    discovered.scope = args.scope.clone().or(discovered.scope);
    let (listener, port) = callback::listen(args.port).map_err(Failure::unable)?;
    let (client_id, client_secret) = client(args, &fetch, &discovered, port)?;
    let pending = Pending::new(discovered, &client_id, port).map_err(Failure::unable)?;
    output::note(&format!("log in at {}", pending.discovered().issuer.name));
    let url = pending.authorization_url();
    match args.json {
        true => output::json(&json!({ "server": args.server, "login": url.as_str() })),
        false => output::line(url.as_str()),
    };
    let code = callback::wait(&listener, port, &pending).map_err(Failure::unable)?;
    let code = code.map_err(Failure::refused)?;
    let secret = client_secret.as_deref().map(String::as_str);
    let tokens = pending.redeem(&fetch, &code, secret).map_err(Failure::refused)?;
    let kept = Kept { args, home: &home, way: &way, discovered: pending.discovered() };
    kept.keep(&client_id, tokens, client_secret, |secrets| {
        let now = SystemClock.unix_seconds();
        let put = |contents: &mut Contents| {
            secrets.into_iter().try_for_each(|(name, secret, host)| {
                contents.set(&name, secret, Some(vec![host]), now).map(drop)
            })
        };
        file.change(&key, put).map_err(Failure::unable)
    })?;
    let issuer = &pending.discovered().issuer.name;
    let told = json!({ "server": args.server, "outcome": "logged in", "issuer": issuer });
    output::done(args.json, &told, &format!("{}: logged in at {issuer}", args.server));
    Ok(Exit::Done)
}

/// Asks the server for what it answers to nobody in particular.
fn challenge(way: &NamedWay) -> Result<Challenge, Failure> {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": ::mcp::era::LEGACY_VERSION, "capabilities": {},
        "clientInfo": { "name": "lazaret", "version": env!("CARGO_PKG_VERSION") },
    } });
    let field = |name: &str, value: &str| (name.to_owned(), Zeroizing::new(value.to_owned()));
    let question = Question {
        verb: Verb::Post,
        target: way.endpoint(),
        hidden: None,
        headers: vec![
            field("accept", "application/json, text/event-stream"),
            field("content-type", "application/json"),
        ],
        body: hello.to_string().into(),
        wait: CHALLENGE_WAIT,
    };
    let answer = way.servers().ask(&question, &AtomicBool::new(false));
    let mut answer = answer.map_err(Failure::unable)?;
    let values = answer.headers.iter().filter(|it| it.0 == "www-authenticate");
    let challenge = Challenge::parse(values.map(|it| it.1.as_str())).unwrap_or_default();
    let status = answer.status;
    // Its connection may serve the next question.
    let _ = answer.next(Duration::ZERO).map(|it| it == Piece::End);
    match status {
        401 | 403 => Ok(challenge),
        200..=299 => Err(Failure::refused("the server wants no login")),
        status => {
            Err(Failure::refused(format!("the server answers HTTP {status} and wants no login")))
        }
    }
}

type Client = (String, Option<Zeroizing<String>>);

/// As whom we log in: as the person says, or as the issuer calls us.
fn client(
    args: &LoginArgs,
    fetch: &Found<'_>,
    discovered: &Discovered,
    port: u16,
) -> Result<Client, Failure> {
    if let Some(id) = &args.client_id {
        return Ok((id.clone(), None));
    }
    let Some(endpoint) = &discovered.issuer.registration_endpoint else {
        return Err(Failure::refused(format!(
            "`{}` registers nobody: register there by hand and name the id with --client-id",
            discovered.issuer.name
        )));
    };
    let registered = oauth::register(fetch, endpoint, port).map_err(Failure::refused)?;
    Ok((registered.client_id, registered.client_secret))
}

/// A login that is about to be kept.
struct Kept<'a> {
    args: &'a LoginArgs,
    home: &'a Path,
    way: &'a NamedWay,
    discovered: &'a Discovered,
}

/// A secret, and the origin that it is for.
type Bound = (Name, Secret, String);

impl Kept<'_> {
    fn keep(
        &self,
        client_id: &str,
        tokens: Tokens,
        client_secret: Option<Zeroizing<String>>,
        store: impl FnOnce(Vec<Bound>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let server = self.args.server.as_str();
        let url = self.way.endpoint().url().to_string();
        let issuer = &self.discovered.issuer;
        let (here, there) =
            (logins::origin(self.way.endpoint()), self.origin(&issuer.token_endpoint)?);
        let mut secrets = Vec::new();
        let mut bound = |what: &str, value: Zeroizing<String>, host: &str| {
            let text = secret_name(server, &url, what);
            let name = Name::parse(&text).map_err(Failure::usage)?;
            let secret = Secret::new(value).and_then(Secret::unless_guessable);
            secrets.push((name, secret.map_err(Failure::refused)?, host.to_owned()));
            Ok::<_, Failure>(text)
        };
        let access = bound("ACCESS", tokens.access, &here)?;
        let refresh = tokens.refresh.map(|it| bound("REFRESH", it, &there)).transpose()?;
        let client_secret = client_secret.map(|it| bound("CLIENT", it, &there)).transpose()?;
        let names: Vec<String> = secrets.iter().map(|it| it.0.to_string()).collect();
        let login = Login {
            url: url.clone(),
            resource: self.discovered.resource.clone(),
            issuer: issuer.name.clone(),
            token_endpoint: issuer.token_endpoint.to_string(),
            client_id: client_id.to_owned(),
            access,
            refresh,
            client_secret,
        };
        let content = json!({ "names": names, "server": server, "issuer": issuer.name, "purpose": "mcp_login" });
        let kinds = ("vault_set", "vault_not_changed");
        Act::around(&self.args.home, &self.args.by, kinds, content, || {
            store(secrets)?;
            logins::keep(self.home, server, login).map_err(Failure::unable)
        })
    }

    fn origin(&self, url: &Url) -> Result<String, Failure> {
        let target = self.way.found(url.as_str()).map_err(Failure::refused)?;
        Ok(logins::origin(&target))
    }
}

/// Returns the name of a secret of a login: no two servers and no two addresses share one.
fn secret_name(server: &str, url: &str, what: &str) -> String {
    let digest = Sha256::digest(format!("{server}\0{url}").as_bytes());
    let digest = HEXLOWER.encode(digest.get(..DIGEST_BYTES).unwrap_or_default());
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    let server: String = server.chars().map(plain).collect();
    format!("{LOGIN_PREFIX}{server}_{digest}_{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_two_servers_or_addresses_never_share_a_name() {
        let name = |server: &str, url: &str| secret_name(server, url, "ACCESS");
        let one = name("a.b", "https://a.example/mcp");
        assert!(one.starts_with("MCP_A_B_") && one.ends_with("_ACCESS"), "{one}");
        assert!(vault::Name::parse(&one).is_ok());
        assert_ne!(one, name("a-b", "https://a.example/mcp"));
        assert_ne!(one, name("a.b", "https://a.example/mcp2"));
    }
}
