//! Commands of the network that speak to this machine alone: `curl localhost:8080`.
//!
//! Only what is surely of this machine counts: every address is read in its plainest form, and every option is
//! one that changes nothing about where the command goes.

use super::options::Options;
use super::sending::host;
use crate::{Call, State, Words, marks};

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
const WGET: Letters = Letters { bare: "nqvSc46dN", valued: "OTtUPow" };
const NC: Letters = Letters { bare: "zvnu46N", valued: "wqi" };

static CURL_BARE: Words = Words::named("judge.here.CURL_BARE");
static CURL_VALUED: Words = Words::named("judge.here.CURL_VALUED");
static WGET_BARE: Words = Words::named("judge.here.WGET_BARE");
static WGET_VALUED: Words = Words::named("judge.here.WGET_VALUED");

/// Variables that say where settings of these lie.
const SETTLED_BY: [&str; 5] = ["CURL_HOME", "HOME", "SYSTEM_WGETRC", "WGETRC", "XDG_CONFIG_HOME"];

/// The addresses that `curl`, `wget` or `nc` is given, and whether an option has a value that only a run would show. Nothing
/// where an option may change where it goes.
pub(super) fn addresses<'a>(call: &Call<'a>) -> Option<(Vec<&'a str>, bool)> {
    let (letters, bare, valued): (_, &[&str], &[&str]) = match call.name.as_str() {
        "curl" => (CURL, &CURL_BARE, &CURL_VALUED),
        "wget" => (WGET, &WGET_BARE, &WGET_VALUED),
        "nc" | "ncat" | "netcat" | "nc.openbsd" | "nc.traditional" => (NC, &[], &[]),
        _ => return None,
    };
    let options = Options::of(call.args, letters.valued, valued);
    let mut is_open = false;
    for it in &options.given {
        let value = it.value().filter(|_| it.is_one_of(letters.valued, valued));
        let is_bare = it.is_one_of(letters.bare, bare) && it.glued.is_none();
        // What it says when it is done can be written to a file, or be told by one.
        let is_odd = |it: &str| it.contains("%output{") || it.starts_with('@');
        let reports = call.name == "curl" && it.is_one_of("w", &["write-out"]);
        if (value.is_none() && !is_bare) || (reports && value.is_some_and(is_odd)) {
            return None;
        }
        is_open |= value.is_some_and(marks::has_hole);
    }
    Some((options.words, is_open))
}

/// Where `curl`, `wget` or `nc` goes.
pub(super) fn spoken_to(call: &Call<'_>, state: &State) -> Here {
    let Some((places, is_open)) = addresses(call) else { return Here::No };
    // Settings that lie elsewhere may say anything, and whoever is asked may say where else to send it.
    let follows = match call.name.as_str() {
        "curl" => call.short('L') || call.has(&["--location"]),
        name => name == "wget",
    };
    let is_led = SETTLED_BY.iter().any(|it| state.vars.contains_key(*it));
    if is_led || (follows && has_body(call)) {
        return Here::No;
    }
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

/// What they are given, with all letters that take a value, so that none is taken for another.
pub(super) fn given<'a>(call: &'a Call<'_>) -> Options<'a> {
    let (letters, names): (_, &[&str]) = match call.name.as_str() {
        "curl" => ("oHXdFuAebcmwTrDyYCEKPQUtxz", &CURL_VALUED),
        "wget" => ("OaBDeiIlAoPQRtTUwX", &WGET_VALUED),
        _ => ("odijlksx", &["dir", "out", "header", "input-file", "split"]),
    };
    Options::of(call.plain(), letters, names)
}

/// Does `curl` or `wget` send more than an address?
pub(super) fn has_body(call: &Call<'_>) -> bool {
    const NAMES: [&str; 6] = ["body-", "data", "form", "json", "post-", "upload-file"];
    let options = given(call);
    let letters = if call.name == "curl" { "dFT" } else { "" };
    options.given.iter().any(|it| it.is(letters, "") || NAMES.iter().any(|name| it.begins(name)))
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

/// Is the machine of an address this one? With a scheme or without.
pub(in super::super) fn is_of_this_machine(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |it| it.1);
    is_this_machine(&host(rest))
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
