//! Code that is given to an interpreter on its command line: what it reads and whom it calls.

use super::Classes;
use super::paths;

/// Does it run code from its command line?
pub(super) fn is_one(program: &str) -> bool {
    let name = program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    matches!(
        name,
        "python" | "pypy" | "node" | "deno" | "bun" | "ruby" | "perl" | "php" | "lua" | "Rscript"
    )
}

/// The classes of its arguments, code among them.
pub(super) fn classes(args: &[&str]) -> Classes {
    let mut found = Classes::NONE;
    for arg in args {
        found |= code(arg);
    }
    let sends = Classes::EGRESS.union(Classes::SENDS_ITS_READ);
    if found.contains(Classes::EGRESS) && found.intersects(Classes::READS) {
        found |= sends;
    }
    found
}

/// The classes of a piece of code.
pub(super) fn code(text: &str) -> Classes {
    let mut found = Classes::NONE;
    let in_path = |it: char| it.is_alphanumeric() || "/._-~\\@".contains(it);
    for piece in text.split(|it: char| !in_path(it)) {
        found |= paths::reading(piece);
    }
    if NETWORK.iter().any(|it| names(text, it)) {
        found |= Classes::EGRESS;
    }
    found
}

/// Is `word` in `text`, and not as a part of a longer name?
fn names(text: &str, word: &str) -> bool {
    let part = |it: Option<char>| it.is_some_and(|it| it == '_' || it.is_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|it| it.chars().next());
        let open = word.ends_with(|it: char| !it.is_alphanumeric());
        !part(before) && (open || !part(after))
    })
}

const NETWORK: &[&str] = &[
    "urllib",
    "urllib2",
    "urllib3",
    "requests",
    "httpx",
    "aiohttp",
    "http.client",
    "httplib",
    "socket",
    "smtplib",
    "ftplib",
    "paramiko",
    "urlopen",
    "fetch(",
    "axios",
    "XMLHttpRequest",
    "WebSocket",
    "net.connect",
    "net.createConnection",
    "http.request",
    "https.request",
    "http.get",
    "https.get",
    "Net::HTTP",
    "open-uri",
    "TCPSocket",
    "LWP",
    "IO::Socket",
    "HTTP::Tiny",
    "curl_exec",
    "fsockopen",
    "Deno.connect",
];
