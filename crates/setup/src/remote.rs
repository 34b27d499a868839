//! MCP servers with an address in hosts' configurations: reached through our gateway, and by the host itself again.

use hooks::Host;
use serde_json::{Map, Value};

/// Members that say where such a server is.
const ADDRESSES: [&str; 2] = ["url", "httpUrl"];
/// Members that only such a server has, and that go with its address.
const OWN: [&str; 4] = ["type", "url", "httpUrl", "headers"];
/// Members by which a host logs in: the gateway could not.
const LOGINS: [&str; 6] = [
    "oauth",
    "authProviderType",
    "auth",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
];
/// By this a header names a secret of the vault.
const REFERENCE: &str = "vault:";

/// A server with an address, as far as the gateway needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) url: String,
    /// Header fields, as `NAME: VALUE`.
    pub(crate) headers: Vec<String>,
}

/// Does it say that it is reached at an address?
pub(crate) fn has_address(server: &Map<String, Value>) -> bool {
    ADDRESSES.iter().any(|it| server.contains_key(*it))
}

impl Remote {
    /// Reads a server of a host's configuration; the reason where it stays as it is.
    pub(crate) fn of_server(server: &Map<String, Value>, host: Host) -> Result<Self, &'static str> {
        let text = |name: &str| server.get(name).and_then(Value::as_str);
        let kind = text("type").unwrap_or_default();
        // Gemini CLI means the transport of 2024 by `url` alone.
        let is_old = kind == "sse"
            || (host == Host::Gemini && !server.contains_key("httpUrl") && kind != "http");
        if is_old {
            return Err(
                "it speaks the transport `sse` of 2024; its calls are judged by the agent's hooks",
            );
        }
        if LOGINS.iter().any(|it| server.contains_key(*it)) {
            return Err(
                "the agent logs in to it by settings of its own; its calls are judged by the agent's hooks",
            );
        }
        let url = text("httpUrl").or_else(|| text("url")).ok_or("its address is no text")?;
        // Arguments of a program are seen by other users of the machine, and nobody fills variables in.
        if url.contains(['?', '@', '$', '{']) {
            return Err("its address may hold a secret or a variable");
        }
        let headers = match server.get("headers") {
            None => Map::new(),
            Some(headers) => {
                headers.as_object().cloned().ok_or("its headers are not understood")?
            }
        };
        let named = headers.iter().map(|(name, value)| {
            let value = value.as_str().filter(|it| it.contains(REFERENCE) && !it.contains("${"))?;
            Some(format!("{name}: {value}"))
        });
        let headers = named.collect::<Option<Vec<_>>>().ok_or(
            "its headers may be secrets: keep them with `lazaret vault set NAME --host HOST`, write `vault:NAME` in their place, and run init again",
        )?;
        Ok(Self { url: url.to_owned(), headers })
    }

    /// Reads the arguments that [`Remote::args`] wrote.
    pub(crate) fn of_args(args: &[String]) -> Option<Self> {
        let mut rest = args.strip_prefix(&["mcp".to_owned()])?;
        let (mut url, mut headers, mut is_named) = (None, Vec::new(), false);
        while let [option, value, after @ ..] = rest {
            match option.as_str() {
                "--home" => {}
                "--name" => is_named = true,
                "--url" => url = Some(value.clone()),
                "--header" => headers.push(value.clone()),
                _ => return None,
            }
            rest = after;
        }
        let url = url.filter(|_| rest.is_empty() && is_named)?;
        Some(Self { url, headers })
    }

    /// Returns the arguments of the gateway, behind those that name the server.
    pub(crate) fn args(&self) -> Vec<String> {
        let headers = self.headers.iter().flat_map(|it| ["--header".to_owned(), it.clone()]);
        ["--url".to_owned(), self.url.clone()].into_iter().chain(headers).collect()
    }

    /// Returns the server as the host starts it through the gateway.
    pub(crate) fn wrapped(
        server: &Map<String, Value>,
        host: Host,
        program: &str,
        args: Vec<String>,
    ) -> Map<String, Value> {
        let mut new = server.clone();
        OWN.iter().for_each(|it| drop(new.shift_remove(*it)));
        let kind = match host {
            Host::Copilot | Host::OpenCode => Some("local"),
            Host::Claude | Host::Cursor => server.get("type").map(|_| "stdio"),
            Host::Codex | Host::Gemini => None,
        };
        if let Some(kind) = kind {
            new.insert("type".to_owned(), Value::from(kind));
        }
        let args = args.into_iter().map(Value::from);
        if host == Host::OpenCode {
            let line = std::iter::once(Value::from(program)).chain(args).collect();
            new.insert("command".to_owned(), Value::Array(line));
        } else {
            new.insert("command".to_owned(), Value::from(program));
            new.insert("args".to_owned(), Value::Array(args.collect()));
        }
        new
    }

    /// Returns the server as it was: by what is known of it, else by what the gateway was told.
    pub(crate) fn unwrapped(
        &self,
        server: &Map<String, Value>,
        was: Option<&Map<String, Value>>,
    ) -> Map<String, Value> {
        let mut old = server.clone();
        ["command", "args", "type"].iter().for_each(|it| drop(old.shift_remove(*it)));
        let is_same = |it: &&Map<String, Value>| {
            ADDRESSES.iter().any(|name| it.get(*name).and_then(Value::as_str) == Some(&self.url))
        };
        if let Some(was) = was.filter(is_same) {
            let own = OWN.iter().filter_map(|it| Some(((*it).to_owned(), was.get(*it)?.clone())));
            old.extend(own);
            return old;
        }
        if server.get("command").is_some_and(Value::is_array) {
            old.insert("type".to_owned(), Value::from("remote"));
        }
        old.insert("url".to_owned(), Value::from(self.url.as_str()));
        let headers = self.headers.iter().filter_map(|it| it.split_once(": "));
        let headers: Map<String, Value> =
            headers.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
        if !headers.is_empty() {
            old.insert("headers".to_owned(), Value::Object(headers));
        }
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn server(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn secrets_and_variables_do_not_become_arguments() {
        let url = "https://mcp.example/mcp";
        for stays in [
            json!({ "url": url, "headers": { "Authorization": "Bearer abc" } }),
            json!({ "url": url, "headers": { "A": "Bearer vault:A", "B": "plain" } }),
            json!({ "url": url, "headers": { "A": "${TOKEN} vault:A" } }),
            json!({ "url": url, "headers": [] }),
            json!({ "url": "https://mcp.example/mcp?key=1" }),
            json!({ "url": "https://u:p@mcp.example/mcp" }),
            json!({ "url": "https://${HOST}/mcp" }),
            json!({ "url": 1 }),
            json!({ "url": url, "type": "sse" }),
            json!({ "url": url, "oauth": {} }),
            json!({ "url": url, "bearer_token_env_var": "T" }),
        ] {
            assert!(Remote::of_server(&server(stays.clone()), Host::Claude).is_err(), "{stays}");
        }
        let old = server(json!({ "url": url }));
        assert!(Remote::of_server(&old, Host::Gemini).is_err(), "Gemini means `sse` by it");
        assert!(Remote::of_server(&old, Host::Cursor).is_ok());
    }

    #[test]
    fn what_was_written_is_read_again_and_other_forms_are_not() {
        let url = "https://mcp.example/mcp".to_owned();
        let remote = Remote { url, headers: vec!["A: vault:B".to_owned()] };
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = [words("mcp --home /s --name notes"), remote.args()].concat();
        assert_eq!(Remote::of_args(&line), Some(remote));
        for other in [
            "mcp --url u",
            "mcp --name a --url",
            "mcp --name a --cage --url u",
            "mcp --name a",
            "x --name a --url u",
        ] {
            assert_eq!(Remote::of_args(&words(other)), None, "{other}");
        }
    }
}
