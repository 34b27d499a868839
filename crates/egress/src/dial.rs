//! Resolve, vet every address, dial exactly a vetted one: one function, for names and literals alike.
//!
//! INVARIANT (GlobalOnly): there is no other place in which a socket is opened. What is not public is dialled only where the
//! operator has opened it: the search engine of this machine, and hosts of the inner network with the addresses listed for them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use scan::net::{self, Domains, Host, Inner, Refused, Rule, Target};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use crate::limits::{ADDRESSES_MAX, Limits};
use crate::resolve::{Known, Resolve, SystemResolver};

/// Opens connections to the public network, and to nothing else but what the operator has opened.
pub struct Dialer {
    resolver: Arc<dyn Resolve>,
    known: Known,
    lookup: Duration,
    connect: Duration,
    /// For all addresses of a name together.
    total: Duration,
    /// Addresses that nobody reaches, by whatever name.
    block: Domains,
    /// Ports of this machine that are open all the same.
    loopback_ports: Vec<u16>,
    /// The one address of this machine that the operator has named.
    operators: Option<SocketAddr>,
    /// Hosts of the inner network that the operator has opened.
    inner: Inner,
}

/// A connection and whom it is with.
#[derive(Debug)]
pub struct Dialled {
    /// The connection.
    pub stream: TcpStream,
    /// The vetted address that was dialled.
    pub address: SocketAddr,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// It leads inside.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The name was not found.
    #[error("`{name}` could not be looked up: {error}")]
    Lookup {
        /// The name.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// Nobody answered at any of its addresses.
    #[error("no connection with {address}: {error}")]
    Connect {
        /// The last that was tried.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
}

impl Dialer {
    /// Asks the system for addresses.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self::with_resolver(Arc::new(SystemResolver), limits)
    }

    /// Asks `resolver` for addresses, which are vetted like any others.
    #[must_use]
    pub fn with_resolver(resolver: Arc<dyn Resolve>, limits: &Limits) -> Self {
        Self {
            resolver,
            known: Known::new(limits.name_kept),
            lookup: limits.lookup,
            connect: limits.connect,
            total: limits.total,
            block: Domains::default(),
            loopback_ports: Vec::new(),
            operators: None,
            inner: Inner::default(),
        }
    }

    /// Dials no address that is on this list. Names on it are for [`crate::Rules`], which know what was asked for.
    #[must_use]
    pub fn blocking(mut self, block: Domains) -> Self {
        self.block = block;
        self
    }

    /// Opens these ports of this machine, for servers that a test or a benchmark has started itself.
    /// Nothing that an agent, a person or a file says leads here.
    #[must_use]
    pub fn dangerously_open_these_loopback_ports_for_tests(mut self, ports: &[u16]) -> Self {
        self.loopback_ports.extend_from_slice(ports);
        self
    }

    /// Opens the address of this machine that the operator has named in the settings, at its port: by that address and by no
    /// name. Who asks for what agents name needs another dialer.
    #[must_use]
    pub fn dangerously_open_for_the_operator(mut self, target: &Target) -> Self {
        self.operators = match target.host() {
            Host::Address(address) if address.is_loopback() => {
                Some(SocketAddr::new(*address, target.port()))
            }
            Host::Address(_) | Host::Name(_) => None,
        };
        self
    }

    /// Opens hosts of the inner network that the operator has named in the settings, each at its port and as far as every
    /// address that it has is listed for it.
    #[must_use]
    pub fn dangerously_opening(mut self, inner: Inner) -> Self {
        self.inner = inner;
        self
    }

    /// Reads where a connection is wanted to: outside, or to what was opened by the operator.
    pub(crate) fn read(&self, text: &str) -> Result<Target, Refused> {
        Target::within(text, &self.inner).or_else(|refused| {
            let here = Target::dangerously_on_this_machine(text).ok();
            here.filter(|it| self.is_operators(it.host(), it.port())).ok_or(refused)
        })
    }

    fn is_operators(&self, host: &Host, port: u16) -> bool {
        match host {
            Host::Address(address) => self.operators == Some(SocketAddr::new(*address, port)),
            Host::Name(_) => false,
        }
    }

    /// The vetted addresses of `host`.
    ///
    /// # Errors
    /// If one of them is blocked, or is neither of the public network nor listed for a host that is open, or if there is none.
    pub async fn vetted(&self, host: &Host, port: u16) -> Result<Arc<[IpAddr]>, DialError> {
        self.vetted_in_turn(host, port, None).await
    }

    async fn vetted_in_turn(
        &self,
        host: &Host,
        port: u16,
        turns: Option<&Arc<Semaphore>>,
    ) -> Result<Arc<[IpAddr]>, DialError> {
        let addresses = match host {
            Host::Address(address) => Arc::from([*address]),
            Host::Name(name) => self.look_up(name, turns).await?,
        };
        if let Some(blocked) = addresses.iter().find(|it| self.block.contains(&Host::Address(**it)))
        {
            let reason = format!("`{host}` is at {blocked}, which is blocked");
            return Err(Refused { rule: Rule::EgressBlocked, reason }.into());
        }
        if self.is_operators(host, port) {
            return Ok(addresses);
        }
        if let Some(opened) = self.inner.find(host, port) {
            opened.vet_all(&addresses)?;
            return Ok(addresses);
        }
        let open = |it: &IpAddr| it.is_loopback() && self.loopback_ports.contains(&port);
        if !addresses.is_empty() && addresses.iter().all(open) {
            return Ok(addresses);
        }
        net::vet_all(&addresses)?;
        Ok(addresses)
    }

    /// Connects to the first address of `host` that answers. All were vetted before the first is dialled,
    /// and nothing is looked up again in between.
    ///
    /// # Errors
    /// If it leads inside or nobody answers.
    pub async fn dial(&self, host: &Host, port: u16) -> Result<Dialled, DialError> {
        self.dial_in_turn(host, port, None).await
    }

    /// The same for somebody who may look up so many names at once.
    pub(crate) async fn dial_in_turn(
        &self,
        host: &Host,
        port: u16,
        turns: Option<&Arc<Semaphore>>,
    ) -> Result<Dialled, DialError> {
        let addresses = self.vetted_in_turn(host, port, turns).await?;
        let mut last = None;
        let end = Instant::now() + self.total;
        for address in addresses.iter().map(|it| SocketAddr::new(*it, port)) {
            let until = end.min(Instant::now() + self.connect);
            let connected = timeout_at(until, TcpStream::connect(address)).await;
            match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(stream) => {
                    // Small messages go at once; a socket that cannot be told so works as well.
                    let _ = stream.set_nodelay(true);
                    return Ok(Dialled { stream, address });
                }
                Err(error) => last = Some(DialError::Connect { address, error }),
            }
        }
        Err(last.unwrap_or_else(|| {
            Refused { rule: Rule::NoAddress, reason: "the name has no address".to_owned() }.into()
        }))
    }

    async fn look_up(
        &self,
        name: &str,
        turns: Option<&Arc<Semaphore>>,
    ) -> Result<Arc<[IpAddr]>, DialError> {
        if let Some(known) = self.known.get(name) {
            return Ok(known);
        }
        let failed = |error| DialError::Lookup { name: name.to_owned(), error };
        let found = timeout(self.lookup, self.resolve(name, turns)).await;
        let found =
            found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(failed)?;
        if found.len() > ADDRESSES_MAX {
            let reason = format!("`{name}` has more than {ADDRESSES_MAX} addresses");
            return Err(Refused { rule: Rule::ManyAddresses, reason }.into());
        }
        let found: Arc<[IpAddr]> = found.into();
        self.known.put(name, Arc::clone(&found));
        Ok(found)
    }
    async fn resolve(&self, name: &str, turns: Option<&Arc<Semaphore>>) -> io::Result<Vec<IpAddr>> {
        let Some(turns) = turns else { return self.resolver.resolve(name).await };
        let turn = Arc::clone(turns).acquire_owned().await.map_err(io::Error::other)?;
        let (resolver, name) = (Arc::clone(&self.resolver), name.to_owned());
        // On its own: the turn lasts until the system is done, also when nobody waits for it any more.
        let asking = tokio::spawn(async move {
            let _turn = turn;
            resolver.resolve(&name).await
        });
        asking.await.map_err(io::Error::other)?
    }
}
