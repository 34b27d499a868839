//! One-time tickets for sockets of browsers, which cannot send a header.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::directory::Known;
use crate::limits::{TICKET_MAX, TICKETS_MAX, TICKETS_PER_USER_MAX};

/// Tickets that were given out, by their hashes.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<HashMap<[u8; 32], Ticket>>);

struct Ticket {
    known: Known,
    address: IpAddr,
    made: Instant,
}

/// Random bytes of a ticket.
const TICKET_BYTES: usize = 32;

impl Tickets {
    /// Makes one for somebody at this address. None if there are too many, or there is no randomness.
    pub(crate) fn make(&self, known: &Known, address: IpAddr) -> Option<String> {
        let mut random = [0; TICKET_BYTES];
        getrandom::fill(&mut random).ok()?;
        let text = HEXLOWER.encode(&random);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, it| it.made.elapsed() < TICKET_MAX);
        // Whoever takes many takes none of those of others: their own oldest one is gone.
        let own = all.iter().filter(|it| it.1.known.name() == known.name());
        let (count, oldest) = own.fold((0, None), |(count, oldest), (hash, it)| {
            let is_older = oldest.is_none_or(|(_, made)| it.made < made);
            (count + 1, if is_older { Some((*hash, it.made)) } else { oldest })
        });
        if let (true, Some((hash, _))) = (count >= TICKETS_PER_USER_MAX, oldest) {
            all.remove(&hash);
        }
        if all.len() >= TICKETS_MAX {
            return None;
        }
        let ticket = Ticket { known: known.clone(), address, made: Instant::now() };
        all.insert(hash(&text), ticket);
        Some(text)
    }

    /// Uses one up, whoever shows it. Who it was made for, if it is they who show it and in time.
    pub(crate) fn take(&self, text: &str, address: IpAddr) -> Option<Known> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = all.remove(&hash(text))?;
        let good = ticket.address == address && ticket.made.elapsed() < TICKET_MAX;
        good.then_some(ticket.known)
    }
}

/// What is looked up is a hash, so that how long it takes tells nothing of a ticket.
fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
