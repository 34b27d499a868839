//! From a name to all of its addresses.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::limits::{LOOKUPS_MAX, NAMES_KEPT_MAX};

/// Answers with the addresses of a name.
pub type Looking<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Looks names up. What it answers is vetted by whoever asked.
pub trait Resolve: Send + Sync {
    /// All addresses of `name`.
    fn resolve<'a>(&'a self, name: &'a str) -> Looking<'a>;
}

/// Turns at asking the system.
static LOOKUPS: Semaphore = Semaphore::const_new(LOOKUPS_MAX);

/// Asks the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Looking<'a> {
        Box::pin(async move {
            // RFC 6761: nobody is asked about what is never there.
            if name.ends_with(".invalid") {
                return Err(io::ErrorKind::NotFound.into());
            }
            // The last dot: this very name, and none with the domain of this machine behind it.
            let whole = format!("{name}.");
            let turn = LOOKUPS.acquire().await.map_err(io::Error::other)?;
            let looking = tokio::task::spawn_blocking(move || {
                let found = (whole.as_str(), 0).to_socket_addrs();
                // Kept until here: the thread is busy even if nobody waits any more.
                drop(turn);
                found
            });
            Ok(looking.await.map_err(io::Error::other)??.map(|it| it.ip()).collect())
        })
    }
}

/// The addresses of a name, and when they were found.
type Remembered = (Instant, Arc<[IpAddr]>);

/// Remembers for a moment what names resolved to.
pub(crate) struct Known {
    kept: Duration,
    names: Mutex<HashMap<String, Remembered>>,
}

impl Known {
    pub(crate) fn new(kept: Duration) -> Self {
        Self { kept, names: Mutex::default() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<[IpAddr]>> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, addresses) = names.get(name)?;
        (at.elapsed() < self.kept).then(|| Arc::clone(addresses))
    }

    pub(crate) fn put(&self, name: &str, addresses: Arc<[IpAddr]>) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() >= NAMES_KEPT_MAX {
            names.retain(|_, (at, _)| at.elapsed() < self.kept);
        }
        if names.len() >= NAMES_KEPT_MAX {
            names.clear();
        }
        names.insert(name.to_owned(), (Instant::now(), addresses));
    }
}
