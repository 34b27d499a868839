//! Addresses that somebody has signed: the values by which stores and logins know their own addresses. They look
//! like data that was encoded, and are as long as a signature and no longer.

use super::encoded::{Data, data_in, decoded};
use super::lists::suffixes;

/// How a signature stands in a query.
struct Form {
    /// Of these hosts and those under them; of all if there are none.
    hosts: &'static [&'static str],
    /// Its names, in small letters; of several one counts.
    names: &'static [&'static str],
    /// What must stand beside it: names with any value, or with this one.
    beside: &'static [&'static str],
    fits: fn(&str) -> bool,
}

/// An RSA signature of 2048 bits in hexadecimal, in letters.
const RSA_HEX: usize = 512;
/// The same in base64, and one of 1024 bits.
const RSA_BASE64: [usize; 2] = [344, 172];
/// SHA-256 in base64, with its sign at the end and without.
const SHA256_BASE64: [usize; 2] = [44, 43];
/// The longest value of a login that comes back, in bytes.
const STATE_BYTES_MAX: usize = 64;
/// The longest mark of a click, in bytes, and how they begin.
const CLICK_BYTES_MAX: usize = 100;
const CLICK_STARTS: &[&str] = &[
    "IwAR", "IwY2xjaw", "IwZXh0", "Cj", "EAIaIQ", "AfmBOo", "0AAAA", "E.C.P.", "E_C_P_", "p2ANqtz-",
];
/// The longest name by which Google knows an application, in bytes, and how it ends.
const CLIENT_BYTES_MAX: usize = 100;
const CLIENT_END: &str = ".apps.googleusercontent.com";

const FORMS: &[Form] = &[
    Form {
        hosts: &["storage.googleapis.com", "storage.cloud.google.com"],
        names: &["x-goog-signature"],
        beside: &["x-goog-algorithm", "x-goog-credential", "x-goog-date"],
        fits: |it| it.len() == RSA_HEX && it.bytes().all(|it| it.is_ascii_hexdigit()),
    },
    Form {
        hosts: &[
            "blob.core.windows.net",
            "dfs.core.windows.net",
            "file.core.windows.net",
            "queue.core.windows.net",
            "table.core.windows.net",
        ],
        names: &["sig"],
        beside: &["se", "sv"],
        fits: |it| it.len() == SHA256_BASE64[0] && is_base64(it, "+/="),
    },
    Form {
        hosts: &["cloudfront.net"],
        names: &["signature"],
        beside: &["key-pair-id"],
        fits: |it| RSA_BASE64.contains(&it.len()) && is_base64(it, "-_~"),
    },
    // Who logs in says the hash of what will be shown later, RFC 7636.
    Form {
        hosts: &[],
        names: &["code_challenge"],
        beside: &["client_id", "code_challenge_method=S256", "redirect_uri"],
        fits: |it| it.len() == SHA256_BASE64[1] && is_base64(it, "-_"),
    },
    // What comes back with the answer, RFC 6749: by chance, and no longer than a hash in hexadecimal.
    Form {
        hosts: &[],
        names: &["state"],
        beside: &["client_id", "redirect_uri", "response_type"],
        fits: |it| it.len() <= STATE_BYTES_MAX && is_base64(it, "-_.~"),
    },
    Form {
        hosts: &[],
        names: &["nonce"],
        beside: &["client_id", "redirect_uri", "response_type"],
        fits: |it| it.len() <= STATE_BYTES_MAX && is_base64(it, "-_.~"),
    },
    // By which a click on an advertisement is counted; links have one, and it has its form.
    Form {
        hosts: &[],
        names: &[
            "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "srsltid", "ttclid",
            "_hsenc",
        ],
        beside: &[],
        fits: |it| it.len() <= CLICK_BYTES_MAX && is_base64(it, "-_.") && is_click(it),
    },
    Form {
        hosts: &["accounts.google.com"],
        names: &["client_id"],
        beside: &["redirect_uri"],
        fits: |it| it.len() <= CLIENT_BYTES_MAX && it.ends_with(CLIENT_END),
    },
];

/// The parts of a query that are no signature of an address at `host`.
pub(super) fn unsigned<'a>(host: &str, query: &'a str) -> Vec<&'a str> {
    let parts: Vec<&str> = query.split(['&', ';']).collect();
    let form = |part: &str| FORMS.iter().position(|it| it.is(host, part, &parts));
    let mut met = [false; FORMS.len()];
    let is_new = |part: &&str| {
        // An address is signed once.
        form(part).and_then(|it| met.get_mut(it)).is_none_or(|it| std::mem::replace(it, true))
    };
    parts.iter().copied().filter(is_new).collect()
}

impl Form {
    fn is(&self, host: &str, part: &str, parts: &[&str]) -> bool {
        let Some((name, value)) = part.split_once('=') else { return false };
        let value = decoded(value);
        self.names.iter().any(|it| name.eq_ignore_ascii_case(it))
            && (self.hosts.is_empty() || suffixes(host).any(|it| self.hosts.contains(&it)))
            && self.beside.iter().all(|wanted| parts.iter().any(|it| has(it, wanted)))
            && (self.fits)(&value)
            // A hash of something is no text.
            && data_in(&value, usize::MAX) != Some(Data::Text)
    }
}

/// Is `part` what is wanted: a name with a value, and with that value if one is given?
fn has(part: &str, wanted: &str) -> bool {
    let (name, only) = wanted.split_once('=').unwrap_or((wanted, ""));
    let value = part.split_once('=').map_or("", |(_, value)| value);
    name_of(part).eq_ignore_ascii_case(name)
        && !value.is_empty()
        && (only.is_empty() || only == value)
}

/// `name` of `name=value`, or all of it.
pub(super) fn name_of(part: &str) -> &str {
    part.split_once('=').map_or(part, |(name, _)| name)
}

fn is_click(value: &str) -> bool {
    let is_hex = || value.len() == 32 && value.bytes().all(|it| it.is_ascii_hexdigit());
    CLICK_STARTS.iter().any(|it| value.starts_with(it)) || is_hex()
}

fn is_base64(text: &str, more: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_alphanumeric() || more.as_bytes().contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_as_long_as_it_must_be_and_stands_in_its_place() {
        let hash = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        let login = "client_id=a&redirect_uri=b&code_challenge_method=S256&code_challenge=";
        let left = |host: &str, query: &str| unsigned(host, query).join("&");
        let signed = format!("{login}{hash}");
        assert_eq!(left("a.example", &signed), login.trim_end_matches("&code_challenge="));
        for other in [
            format!("{login}{hash}A"),
            format!("{login}{}.", hash.trim_end_matches('M')),
            signed.replace("client_id", "client"),
            signed.replace("code_challenge=", "challenge="),
            signed.replace("client_id=a", "client_id="),
            signed.replace("redirect_uri=b", "redirect_uri"),
            signed.replace("S256", "plain"),
            signed.replace("S256", ""),
            // As long as a hash, and words.
            format!("{login}dGhlIHNlY3JldCBrZXkgaXMgaHVudGVyMiwgYnV0IG5"),
        ] {
            assert_eq!(left("a.example", &other), other);
        }
        let twice = format!("{signed}&code_challenge={hash}");
        assert!(left("a.example", &twice).contains(hash), "the second is none");
        let google = |client: &str| format!("redirect_uri=b&client_id={client}{CLIENT_END}");
        let own = google("1234567890-abc123def456ghi789jkl012mno345pq");
        assert_eq!(left("accounts.google.com", &own), "redirect_uri=b");
        for other in [
            google(&hash.repeat(2)),
            google("dGhlIHNlY3JldCBrZXkgaXMgaHVudGVyMg"),
            own.replace("=b", "="),
        ] {
            assert_eq!(left("accounts.google.com", &other), other);
        }
        let blob = format!("sv=1&se=2&sig={}%3D", hash.replace('-', "%2B"));
        assert_eq!(left("me.blob.core.windows.net", &blob), "sv=1&se=2");
        for other in [
            blob.replace("se=2", "se="),
            "sv=1&se=2&sig=dGhlIHNlY3JldCBrZXkgaXMgaHVudGVyMiwgYnV0IG4=".to_owned(),
        ] {
            assert_eq!(left("me.blob.core.windows.net", &other), other);
        }
        let login = "client_id=a&redirect_uri=b&response_type=code";
        let state = format!("{login}&state={hash}&nonce={hash}");
        assert_eq!(left("a.example", &state), login);
        for other in [
            format!("{login}&state={hash}{hash}"),
            format!("{login}&state=dGhlIHNlY3JldCBrZXkgaXMgaHVudGVyMiwgYnV0IG5"),
            format!("client_id=a&redirect_uri=b&state={hash}"),
        ] {
            assert_eq!(left("a.example", &other), other);
        }
        let click = format!("fbclid=IwAR{hash}");
        assert_eq!(left("a.example", &format!("{click}&a=b")), "a=b");
        assert_eq!(
            left("a.example", &format!("{click}&gclid=Cj{hash}")),
            format!("gclid=Cj{hash}")
        );
        for other in [
            format!("fbclid={hash}"),
            format!("fbclid=IwAR{hash}{hash}{hash}"),
            format!("clickid=IwAR{hash}"),
        ] {
            assert_eq!(left("a.example", &other), other);
        }
        for host in ["blob.core.windows.net.example", "notblob.core.windows.net"] {
            assert_eq!(left(host, &blob), blob, "{host}");
        }
    }
}
