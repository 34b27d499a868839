//! The environment of processes that an agent starts: six names of the host's, and what the agent is given.
//!
//! Names by which a program can be made to load or run something else are given by nobody.

use std::collections::BTreeMap;

/// What a process gets of the host's own environment.
pub const OF_HOST: &[&str] = &["PATH", "HOME", "TERM", "TZ", "LANG", "USER"];
/// The zone where none is set.
const ZONE: &str = "UTC";

/// Names that change what a program loads, runs or trusts, or where it sends things.
const NOT_FOR_AGENTS: &[&str] = &[
    "ALL_PROXY",
    "BASH_ENV",
    "BROWSER",
    "CDPATH",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "EDITOR",
    "ENV",
    "FPATH",
    "FTP_PROXY",
    "GCONV_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "GLOBIGNORE",
    "HISTFILE",
    "HOME",
    "HOSTALIASES",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IFS",
    "INPUTRC",
    "JDK_JAVA_OPTIONS",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCALDOMAIN",
    "LOCPATH",
    "MAKEFLAGS",
    "MALLOC_TRACE",
    "MANPAGER",
    "NLSPATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NO_PROXY",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "PAGER",
    "PATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS4",
    "REQUESTS_CA_BUNDLE",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    "RUSTC_WRAPPER",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SSLKEYLOGFILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SUDO_ASKPASS",
    "TMPDIR",
    "TZDIR",
    "VISUAL",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];
/// The same by how they begin.
const NOT_FOR_AGENTS_BEGINNING: &[&str] = &[
    "BASH_FUNC_",
    "CARGO_",
    "DOTENV_",
    "DYLD_",
    "GEM_",
    "GIT_",
    "LAZARET_",
    "LD_",
    "LUA_",
    "NPM_CONFIG_",
    "PERL",
    "PIP_",
    "PYTHON",
    "RUBY",
    "RUSTC",
];

/// An environment, and what was not taken into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// What a process gets.
    pub variables: BTreeMap<String, String>,
    /// Names of the agent's that it does not get.
    pub rejected: Vec<String>,
}

/// The environment of a process of an agent: from nothing, with what may be in it.
pub fn environment<'a>(
    host: impl IntoIterator<Item = (&'a str, &'a str)>,
    agent: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Environment {
    let own = host.into_iter().filter(|(name, _)| OF_HOST.contains(name));
    let mut variables: BTreeMap<String, String> =
        own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    variables.entry("TZ".to_owned()).or_insert_with(|| ZONE.to_owned());
    let mut rejected = Vec::new();
    for (name, value) in agent {
        if may_be_set(name) && !value.contains('\0') {
            variables.insert(name.to_owned(), value.to_owned());
        } else {
            rejected.push(name.to_owned());
        }
    }
    Environment { variables, rejected }
}

/// May an agent's process be given a variable of this name?
#[must_use]
pub fn may_be_set(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    crate::Name::parse(name).is_ok()
        && !OF_HOST.contains(&upper.as_str())
        && !NOT_FOR_AGENTS.contains(&upper.as_str())
        && !NOT_FOR_AGENTS_BEGINNING.iter().any(|it| upper.starts_with(it))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn pairs(value: &Value) -> Vec<(&str, &str)> {
        let all = value.as_object().into_iter().flatten();
        all.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect()
    }

    #[test]
    fn the_vectors_hold() {
        let rows: Vec<Value> =
            serde_json::from_str(include_str!("../../../corpus/credentials/env_safety.json"))
                .unwrap();
        let mut seen = 0;
        // Rows about `/proc` and a folder are held by `cli/tests/vault_keys.rs`, in processes of their own. One is about
        // arguments of another runtime, of which there is none here.
        for row in rows.iter().filter(|it| it["input"].get("host").is_some()) {
            let made = environment(pairs(&row["input"]["host"]), pairs(&row["input"]["agent"]));
            let names = |field: &str| -> Vec<String> {
                let all = row["expected"][field].as_array().into_iter().flatten();
                all.map(|it| it.as_str().unwrap().to_owned()).collect()
            };
            for absent in names("absent").iter().chain(&names("rejected")) {
                let value = made.variables.get(absent).map(String::as_str);
                let hosts = row["input"]["host"][absent.as_str()].as_str();
                assert!(value.is_none() || value == hosts.filter(|_| absent == "PATH"), "{row}");
            }
            assert!(names("present").iter().all(|it| made.variables.contains_key(it)), "{row}");
            for (name, value) in pairs(&row["expected"]["equal"]) {
                assert_eq!(made.variables.get(name).map(String::as_str), Some(value), "{row}");
            }
            let rejected = names("rejected");
            assert!(rejected.iter().all(|it| made.rejected.contains(it)), "{row}");
            if let Some(keys) = row["expected"]["keys"].as_array() {
                assert_eq!(made.variables.len(), keys.len(), "{row}");
            }
            seen += 1;
        }
        assert_eq!(seen, 37);
    }
}
