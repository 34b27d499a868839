//! Addresses that somebody has signed: the values by which stores and logins know their own addresses. They look
//! like data that was encoded, and are as long as a signature and no longer.

use super::encoded::decoded;
use super::lists::suffixes;

/// How a signature stands in a query.
struct Form {
    /// Of these hosts and those under them; of all if there are none.
    hosts: &'static [&'static str],
    /// Its name, in small letters.
    name: &'static str,
    /// What must stand beside it.
    beside: &'static [&'static str],
    fits: fn(&str) -> bool,
}

/// An RSA signature of 2048 bits in hexadecimal, in letters.
const RSA_HEX: usize = 512;
/// The same in base64, and one of 1024 bits.
const RSA_BASE64: [usize; 2] = [344, 172];
/// SHA-256 in base64, with its sign at the end and without.
const SHA256_BASE64: [usize; 2] = [44, 43];

const FORMS: &[Form] = &[
    Form {
        hosts: &["storage.googleapis.com", "storage.cloud.google.com"],
        name: "x-goog-signature",
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
        name: "sig",
        beside: &["se", "sv"],
        fits: |it| it.len() == SHA256_BASE64[0] && is_base64(it, "+/="),
    },
    Form {
        hosts: &["cloudfront.net"],
        name: "signature",
        beside: &["key-pair-id"],
        fits: |it| RSA_BASE64.contains(&it.len()) && is_base64(it, "-_~"),
    },
    // Who logs in says the hash of what will be shown later, RFC 7636.
    Form {
        hosts: &[],
        name: "code_challenge",
        beside: &["client_id", "code_challenge_method", "redirect_uri"],
        fits: |it| it.len() == SHA256_BASE64[1] && is_base64(it, "-_"),
    },
    Form {
        hosts: &["accounts.google.com"],
        name: "client_id",
        beside: &["redirect_uri"],
        fits: |it| it.ends_with(".apps.googleusercontent.com"),
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
        let has = |wanted: &&str| parts.iter().any(|it| name_of(it).eq_ignore_ascii_case(wanted));
        name.eq_ignore_ascii_case(self.name)
            && (self.hosts.is_empty() || suffixes(host).any(|it| self.hosts.contains(&it)))
            && self.beside.iter().all(has)
            && (self.fits)(&decoded(value))
    }
}

fn name_of(part: &str) -> &str {
    part.split_once('=').map_or(part, |(name, _)| name)
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
        ] {
            assert_eq!(left("a.example", &other), other);
        }
        let twice = format!("{signed}&code_challenge={hash}");
        assert!(left("a.example", &twice).contains(hash), "the second is none");
        let blob = format!("sv=1&se=2&sig={}%3D", hash.replace('-', "%2B"));
        assert_eq!(left("me.blob.core.windows.net", &blob), "sv=1&se=2");
        for host in ["blob.core.windows.net.example", "notblob.core.windows.net"] {
            assert_eq!(left(host, &blob), blob, "{host}");
        }
    }
}
