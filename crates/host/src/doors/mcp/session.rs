//! Which session a connection of the door for MCP is about.
//!
//! Whoever connects names it, and names the same one when a connection broke: a client that goes on is as tainted as it
//! was. `mcp` is a session of this connection alone, `mcp NAME` one that another may take up, and `mcp NAME again` says
//! that one was there before.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use model::SessionId;

/// What every name begins with.
const PREFIX: &str = "mcp:";
/// Hexadecimal digits after that: as many as nobody guesses.
const DIGITS: usize = 32;
/// The word of a connection that is not the first.
const AGAIN: &str = "again";

/// Returns a name that no session has.
///
/// # Errors
/// If the system gives no random bytes.
pub fn new_name() -> io::Result<String> {
    let mut random = [0; DIGITS / 2];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("{PREFIX}{:0DIGITS$x}", u128::from_be_bytes(random)))
}

/// Returns the words by which a connection asks for the session of this name; `is_again` says that there was one before.
#[must_use]
pub fn door(name: &str, is_again: bool) -> String {
    if is_again { format!("mcp {name} {AGAIN}") } else { format!("mcp {name}") }
}

/// Where a connection begins to count its tickets: one of a connection that broke is none of the next.
pub(super) fn first_ticket() -> io::Result<u64> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(u64::from(u32::from_be_bytes(random)) << 32)
}

/// The session that these words ask for, and whether there was a connection before.
pub(super) fn asked(words: &[&str]) -> Result<(SessionId, bool), String> {
    let (name, is_again) = match *words {
        [] => (new_name().map_err(|error| error.to_string())?, false),
        [name] => (name.to_owned(), false),
        [name, AGAIN] => (name.to_owned(), true),
        _ => return Err("these words ask for no session".to_owned()),
    };
    let is_digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    let fits = |it: &str| it.len() == DIGITS && it.bytes().all(is_digit);
    if !name.strip_prefix(PREFIX).is_some_and(fits) {
        return Err("this is no name of a session".to_owned());
    }
    Ok((SessionId::parse(&name).map_err(|error| error.to_string())?, is_again))
}

/// How many connections each session has: the one before may still be busy when the next has come.
#[derive(Default)]
pub(in crate::doors) struct Shared(Mutex<HashMap<SessionId, usize>>);

impl Shared {
    /// A connection takes the session up.
    pub(super) fn enter(&self, session: &SessionId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(session.clone()).or_default() += 1;
    }

    /// A connection has gone; `end` is done if it was the last, before another can take the session up.
    pub(super) fn leave(&self, session: &SessionId, end: impl FnOnce()) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = all.get(session).map_or(0, |it| it.saturating_sub(1));
        if left > 0 {
            all.insert(session.clone(), left);
            return;
        }
        all.remove(session);
        end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_random_and_nothing_else_is_one() {
        let name = new_name().unwrap();
        assert_ne!(name, new_name().unwrap());
        assert_eq!(asked(&[&name]).unwrap(), (SessionId::parse(&name).unwrap(), false));
        let words = door(&name, true);
        let words: Vec<&str> = words.split(' ').skip(1).collect();
        assert_eq!(asked(&words).unwrap(), (SessionId::parse(&name).unwrap(), true));
        let other = format!("hook:{}", "0".repeat(DIGITS));
        for wrong in [&[other.as_str()][..], &["mcp:"], &["mcp:00"], &["s"], &[&name, "x"]] {
            assert!(asked(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_session_ends_with_its_last_connection() {
        let (shared, session) = (Shared::default(), SessionId::parse("s").unwrap());
        let mut ended = 0;
        shared.enter(&session);
        shared.enter(&session);
        shared.leave(&session, || ended += 1);
        assert_eq!(ended, 0);
        shared.leave(&session, || ended += 1);
        assert_eq!(ended, 1);
    }
}
