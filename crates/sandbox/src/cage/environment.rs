//! What a cage adds to an environment.

use std::ffi::OsString;
use std::path::Path;

use super::settings::Network;

/// Names by which programs find a proxy.
const PROXY_NAMES: &[&str] =
    &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// What programs are told of a cage in every environment, unless something else is said: who looks for leaks at the end of a
/// program does so by looking into it as another process, which nobody may here.
pub const FOR_PROGRAMS: &[(&str, &str)] = &[("LSAN_OPTIONS", "detect_leaks=0")];

/// The way to the proxy, and where files go that a program makes for itself if `/tmp` and the home are the host's.
pub(crate) fn added(
    network: &Network,
    port: Option<u16>,
    fresh: Option<&Path>,
) -> Vec<(&'static str, OsString)> {
    let mut more = Vec::new();
    if let (Network::Proxy(credentials), Some(port)) = (network, port) {
        let url = OsString::from(format!("http://{credentials}@127.0.0.1:{port}"));
        more.extend(PROXY_NAMES.iter().map(|it| (*it, url.clone())));
        more.extend(["NO_PROXY", "no_proxy"].map(|it| (it, OsString::new())));
        more.push(("NODE_USE_ENV_PROXY", OsString::from("1")));
    }
    if let Some(fresh) = fresh {
        more.extend(["HOME", "TMPDIR"].map(|it| (it, fresh.as_os_str().to_owned())));
    }
    more
}
