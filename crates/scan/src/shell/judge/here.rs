//! Commands of the network that speak to this machine alone: `curl localhost:8080`.
//!
//! Only what is surely of this machine counts: every address is read in its plainest form, and every option is
//! one that changes nothing about where the command goes.

use super::super::marks;
use super::super::simple::Call;

/// Does a command stay on this machine?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    /// All that it speaks to is named, and is this machine.
    Surely,
    /// The same, but for a value that only a run would show and that may be several words.
    Likely,
    /// It may go elsewhere.
    No,
}

/// Letters of options that take no value, and of those that take one.
struct Letters {
    bare: &'static str,
    valued: &'static str,
}

const CURL: Letters = Letters { bare: "sSfkiIvLGNgjOJR#460", valued: "oHXdFuAebcmwTrDyY" };
const WGET: Letters = Letters { bare: "qvSc46dN", valued: "OTtUPow" };
const NC: Letters = Letters { bare: "zvnu46N", valued: "wqi" };

const CURL_BARE: [&str; 24] = [
    "compressed",
    "fail",
    "fail-early",
    "fail-with-body",
    "get",
    "globoff",
    "head",
    "http1.1",
    "http2",
    "include",
    "insecure",
    "ipv4",
    "ipv6",
    "location",
    "no-buffer",
    "no-keepalive",
    "no-progress-meter",
    "path-as-is",
    "remote-name",
    "retry-all-errors",
    "retry-connrefused",
    "show-error",
    "silent",
    "verbose",
];
const CURL_VALUED: [&str; 28] = [
    "connect-timeout",
    "cookie",
    "cookie-jar",
    "data",
    "data-ascii",
    "data-binary",
    "data-raw",
    "data-urlencode",
    "dump-header",
    "form",
    "form-string",
    "header",
    "json",
    "max-time",
    "noproxy",
    "output",
    "range",
    "referer",
    "request",
    "retry",
    "retry-delay",
    "retry-max-time",
    "speed-limit",
    "speed-time",
    "upload-file",
    "user",
    "user-agent",
    "write-out",
];
const WGET_BARE: [&str; 9] = [
    "continue",
    "content-on-error",
    "no-check-certificate",
    "no-verbose",
    "quiet",
    "retry-connrefused",
    "server-response",
    "spider",
    "verbose",
];
const WGET_VALUED: [&str; 15] = [
    "body-data",
    "body-file",
    "connect-timeout",
    "directory-prefix",
    "header",
    "method",
    "output-document",
    "password",
    "post-data",
    "post-file",
    "read-timeout",
    "timeout",
    "tries",
    "user",
    "waitretry",
];

/// The addresses that `curl`, `wget` or `nc` is given, and whether an option has a value that only a run would show. Nothing
/// where an option may change where it goes.
pub(super) fn addresses<'a>(call: &Call<'a>) -> Option<(Vec<&'a String>, bool)> {
    let (letters, bare, valued): (_, &[&str], &[&str]) = match call.name.as_str() {
        "curl" => (CURL, &CURL_BARE, &CURL_VALUED),
        "wget" => (WGET, &WGET_BARE, &WGET_VALUED),
        "nc" | "ncat" | "netcat" | "nc.openbsd" | "nc.traditional" => (NC, &[], &[]),
        _ => return None,
    };
    let mut places: Vec<&String> = Vec::new();
    let mut is_open = false;
    let mut rest = call.args.iter();
    while let Some(arg) = rest.next() {
        let value = if let Some(long) = arg.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, value)) if valued.contains(&name) => Some(value),
                None if valued.contains(&long) => rest.next().map(String::as_str),
                None if bare.contains(&long) => None,
                Some(_) | None => return None,
            }
        } else if let Some(short) = arg.strip_prefix('-').filter(|it| !it.is_empty()) {
            match short_value(short, &letters) {
                Short::Unknown => return None,
                Short::Bare => None,
                Short::Glued(value) => Some(value),
                Short::Next => rest.next().map(String::as_str),
            }
        } else {
            places.push(arg);
            None
        };
        is_open |= value.is_some_and(marks::has_hole);
    }
    Some((places, is_open))
}

/// Where `curl`, `wget` or `nc` goes.
pub(super) fn spoken_to(call: &Call<'_>) -> Here {
    let Some((places, is_open)) = addresses(call) else { return Here::No };
    let is_here = match call.name.as_str() {
        "curl" | "wget" => !places.is_empty() && places.iter().all(|it| is_address_here(it)),
        _ => match places.split_first() {
            Some((host, ports)) => {
                is_this_machine(host) && ports.len() == 1 && ports.iter().all(|it| is_port(it))
            }
            None => false,
        },
    };
    match (is_here, is_open) {
        (true, false) => Here::Surely,
        // What these two send is judged further on.
        (true, true) if matches!(call.name.as_str(), "curl" | "wget") => Here::Likely,
        (true, true) => Here::No,
        (false, _) => Here::No,
    }
}

/// The files that `curl` or `wget` writes what it gets to.
pub(super) fn outputs(call: &Call<'_>) -> Vec<String> {
    const LONG: [&str; 4] = ["--output", "--output-document", "--cookie-jar", "--dump-header"];
    // All letters that take a value, so that none is taken for another.
    let (valued, written) = match call.name.as_str() {
        "curl" => ("oHXdFuAebcmwTrDyYCEKPQUtxz", "ocD"),
        _ => ("OaBDeiIlAoPQRtTUwX", "Oo"),
    };
    let plain = call.plain();
    let mut found = Vec::new();
    for (at, arg) in plain.iter().enumerate() {
        let next = plain.get(at + 1).cloned();
        if let Some((_, value)) = arg.split_once('=').filter(|it| LONG.contains(&it.0)) {
            found.push(value.to_owned());
        } else if LONG.contains(&arg.as_str()) {
            found.extend(next);
        } else if let Some(short) = arg.strip_prefix('-').filter(|it| !it.starts_with('-')) {
            let Some(place) = short.find(|it| valued.contains(it)) else { continue };
            let (letter, glued) =
                short.get(place..).unwrap_or_default().split_at_checked(1).unwrap_or_default();
            if written.contains(letter) {
                found.extend(if glued.is_empty() { next } else { Some(glued.to_owned()) });
            }
        }
    }
    // Named as in the address.
    let is_named_there = match call.name.as_str() {
        "curl" => call.short('O') || call.has(&["--remote-name"]),
        _ => found.is_empty(),
    };
    let addresses = plain.iter().filter(|it| is_named_there && it.contains("://"));
    let last = |it: &String| it.split_once("://")?.1.rsplit_once('/').map(|it| it.1.to_owned());
    found.extend(addresses.filter_map(last));
    found.retain(|it| !it.is_empty() && it != "-" && !it.contains("://"));
    found
}

enum Short<'a> {
    Unknown,
    Bare,
    Glued(&'a str),
    Next,
}

/// `-sS`, `-o file`, `-sofile`.
fn short_value<'a>(short: &'a str, letters: &Letters) -> Short<'a> {
    for (at, letter) in short.char_indices() {
        if letters.valued.contains(letter) {
            let glued = short.get(at + letter.len_utf8()..).unwrap_or_default();
            return if glued.is_empty() { Short::Next } else { Short::Glued(glued) };
        }
        // Two letters for one option: `-nv`.
        if !letters.bare.contains(letter) && short != "nv" {
            return Short::Unknown;
        }
    }
    Short::Bare
}

/// An address of the web, with a scheme or without, whose machine nobody could read in another way.
fn is_address_here(address: &str) -> bool {
    let address = marks::plain(address);
    let rest = match address.split_once("://") {
        Some((scheme, rest))
            if ["http", "https"].iter().any(|it| scheme.eq_ignore_ascii_case(it)) =>
        {
            rest
        }
        Some((scheme, _)) if !scheme.contains(['/', '?', '#', '.', ':']) => return false,
        Some(_) | None => address.as_str(),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    // Where the path does not begin with a slash, programs do not agree what belongs to the name.
    if !path.is_empty() && !path.starts_with('/') && path.contains(['@', '\\']) {
        return false;
    }
    let (host, port) = match authority.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((host, port)) => (host, port),
        None => authority
            .split_at_checked(authority.find(':').unwrap_or(authority.len()))
            .unwrap_or((authority, "")),
    };
    let is_port_or_none = match port.strip_prefix(':') {
        // `:$PORT`, where nothing here says what it is.
        Some(port) => port.is_empty() || is_port(port),
        None => port.is_empty(),
    };
    is_port_or_none && is_this_machine(host)
}

fn is_port(text: &str) -> bool {
    let text = marks::plain(text);
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    match text.split_once('-') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(&text),
    }
}

/// A name or a number of the machine itself, as it is usually written.
pub(super) fn is_this_machine(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let is_number = || {
        host.parse::<std::net::Ipv4Addr>().is_ok_and(|it| it.is_loopback() || it.is_unspecified())
    };
    let is_name = host.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.".contains(&it));
    host == "localhost" || (is_name && host.ends_with(".localhost")) || host == "::1" || is_number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_known_in_their_plainest_form() {
        for address in [
            "localhost",
            "LOCALHOST:8080/a@b",
            "http://localhost/?a=b@c",
            "https://127.0.0.1:1/",
            "127.8.9.1",
            "http://[::1]:80/x",
            "app.localhost:3000",
            "localhost:",
            "0.0.0.0:8000",
        ] {
            assert!(is_address_here(address), "{address}");
        }
        for address in [
            "",
            "localhost.example.com",
            "http://localhost@example.com/",
            "http://localhost:80@example.com/",
            "http://localhost\\@example.com/",
            "http://localhost#@example.com/",
            "http://localhost?@example.com/",
            "http:localhost",
            "ftp://localhost/",
            "gopher://localhost:6379/",
            "file://localhost/etc/passwd",
            "http:///localhost",
            "http://{localhost,example.com}/",
            "http://127.1/",
            "http://0x7f000001/",
            "http://[::1%25x]/",
            "http://example.com/localhost",
            "\u{E000}",
            "localhost:\u{E000}",
            "localhost\u{E000}/",
        ] {
            assert!(!is_address_here(address), "{address}");
        }
    }
}
