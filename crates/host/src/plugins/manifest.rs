//! What a plugin says of itself: `MANIFEST.json`, strictly read. It is a claim, and grants nothing.

use std::fmt;

use model::provider::ProviderKind;
use scan::net::Domains;
use serde::Deserialize;
use vault::Name;

use super::tools::{PluginTool, ToolForm, tools};

/// The file's name.
pub const MANIFEST: &str = "MANIFEST.json";
/// The longest manifest, in bytes.
pub(super) const MANIFEST_BYTES_MAX: usize = 64 * 1024;
/// The longest name, in bytes: that of a package.
const NAME_BYTES_MAX: usize = 214;
/// The longest text, in characters.
const TEXT_CHARS_MAX: usize = 2000;
/// How many endpoints or keys a plugin may name.
const CLAIMS_MAX: usize = 20;

/// A manifest that was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The name of the package, such as `@community/provider-memory-redis`.
    pub name: String,
    /// What it provides.
    pub kind: ProviderKind,
    /// Under which name.
    pub provides: String,
    /// What it says it needs.
    pub capabilities: Capabilities,
    /// Its version.
    pub version: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Where it begins.
    pub main: String,
    /// The tools that it offers to agents; one without tools is never run.
    pub tools: Vec<PluginTool>,
}

/// What a plugin says it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Endpoints, `host:port`.
    pub network: Vec<String>,
    /// Files.
    pub filesystem: FileAccess,
    /// Names of secrets.
    pub credentials: Vec<String>,
}

/// Access to files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileAccess {
    /// None.
    #[default]
    None,
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// Why a manifest was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MANIFEST}: {0}")]
pub struct ManifestError(String);

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// If anything in it is missing, unknown, there twice, or not as it should be.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        if bytes.len() > MANIFEST_BYTES_MAX {
            let count = bytes.len();
            return Err(wrong(format_args!(
                "{count} bytes, at most {MANIFEST_BYTES_MAX} are read"
            )));
        }
        let form: Form = serde_json::from_slice(bytes).map_err(wrong)?;
        if !is_package_name(&form.name) {
            return Err(wrong(
                "`name` is not the name of a package: lower case, `name` or `@scope/name`",
            ));
        }
        let kind = ProviderKind::parse(&form.ax_provider.kind);
        let kind = kind.ok_or_else(|| wrong("`ax_provider.kind` is no kind of provider"))?;
        if !is_word(&form.ax_provider.name) {
            return Err(wrong("`ax_provider.name` is not a word of a-z, 0-9 and `-`"));
        }
        for text in [&form.description, &form.version].into_iter().flatten() {
            check_text(text)?;
        }
        if form.integrity.as_ref().is_some_and(|it| !is_integrity(it)) {
            return Err(wrong("`integrity` is not `sha512-` and base64"));
        }
        let main = form.main.unwrap_or_else(|| "index.js".to_owned());
        if !is_inner_path(&main) {
            return Err(wrong("`main` is not the path of a file in the plugin"));
        }
        let capabilities = capabilities(form.capabilities)?;
        let tools = tools(form.tools, &form.ax_provider.name)?;
        if !tools.is_empty() {
            Domains::parse(&capabilities.network).map_err(wrong)?;
            capabilities
                .credentials
                .iter()
                .try_for_each(|it| Name::parse(it).map(drop))
                .map_err(wrong)?;
        }
        // INVARIANT (FailClosed): what it could not be given is not taken for granted.
        if !tools.is_empty() && capabilities.filesystem != FileAccess::None {
            return Err(wrong(
                "a plugin with `tools` is given no files: `filesystem` must be none",
            ));
        }
        Ok(Self {
            name: form.name,
            kind,
            provides: form.ax_provider.name,
            capabilities,
            version: form.version,
            description: form.description,
            main,
            tools,
        })
    }
}

// A field that is unknown or there twice is an error of these types.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    name: String,
    ax_provider: ProviderForm,
    capabilities: CapabilitiesForm,
    integrity: Option<String>,
    description: Option<String>,
    version: Option<String>,
    main: Option<String>,
    #[serde(default)]
    tools: Vec<ToolForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderForm {
    kind: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapabilitiesForm {
    #[serde(default)]
    network: Vec<String>,
    #[serde(default)]
    filesystem: FileAccess,
    #[serde(default)]
    credentials: Vec<String>,
}

fn capabilities(form: CapabilitiesForm) -> Result<Capabilities, ManifestError> {
    for (list, what) in [(&form.network, "network"), (&form.credentials, "credentials")] {
        if list.len() > CLAIMS_MAX {
            return Err(wrong(format_args!("`{what}` has more than {CLAIMS_MAX} entries")));
        }
    }
    if let Some(bad) = form.network.iter().find(|it| !is_endpoint(it)) {
        return Err(wrong(format_args!("`{}` is no endpoint `host:port`", shown(bad))));
    }
    if let Some(bad) = form.credentials.iter().find(|it| !is_key(it)) {
        return Err(wrong(format_args!("`{}` is no name of a secret", shown(bad))));
    }
    let CapabilitiesForm { network, filesystem, credentials } = form;
    Ok(Capabilities { network, filesystem, credentials })
}

fn is_package_name(name: &str) -> bool {
    let part = |it: &str| {
        !it.is_empty()
            && !it.starts_with(['.', '_'])
            && it
                .bytes()
                .all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'~' | b'-'))
    };
    name.len() <= NAME_BYTES_MAX
        && match name.strip_prefix('@') {
            Some(scoped) => {
                scoped.split_once('/').is_some_and(|(one, other)| part(one) && part(other))
            }
            None => part(name),
        }
}

fn is_word(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && !name.starts_with('-')
        && name.bytes().all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let digits = (1..=5).contains(&port.len()) && port.bytes().all(|it| it.is_ascii_digit());
    let port = digits && port.parse::<u16>().is_ok_and(|it| it > 0) && !port.starts_with('0');
    let label = |it: &str| {
        (1..=63).contains(&it.len())
            && !it.starts_with('-')
            && !it.ends_with('-')
            && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
    };
    let name = host.len() <= 253 && host.split('.').all(label);
    let address = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let address = address.is_some_and(|it| it.parse::<std::net::Ipv6Addr>().is_ok());
    port && (name || address)
}

fn is_key(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

fn is_integrity(text: &str) -> bool {
    let base64 = |it: &str| {
        let letters = it.trim_end_matches('=');
        (1..=128).contains(&it.len())
            && it.len() - letters.len() <= 2
            && letters.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/'))
    };
    text.strip_prefix("sha512-").is_some_and(base64)
}

/// A path that stays where it is, in one spelling.
pub(super) fn is_inner_path(path: &str) -> bool {
    (1..=1024).contains(&path.len())
        && !path.chars().any(|it| it.is_control() || it == '\\' || it == ':')
        && path.split('/').all(|it| !it.is_empty() && it != "." && it != "..")
}

pub(super) fn check_text(text: &str) -> Result<(), ManifestError> {
    let long = text.chars().count() > TEXT_CHARS_MAX;
    if long || text.chars().any(|it| it.is_control() && it != '\n') {
        return Err(wrong("a text is too long or has control characters"));
    }
    Ok(())
}

fn shown(text: &str) -> String {
    text.chars().take(48).flat_map(char::escape_default).collect()
}

pub(super) fn wrong(what: impl fmt::Display) -> ManifestError {
    ManifestError(what.to_string())
}
