//! The web for agents: pages and searches. Each takes a permit, asks within the rules, and gives back text
//! that cannot pose as instructions.

mod fetch;
mod path;
mod search;
mod service;
mod told;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use evidence::Journal;
use monitor::{Output, Permit, Status};
use scan::boundary::{self, Boundary, Nonce};

use crate::client::{Answer, Ask, AskError, Client};
use crate::event::EgressEvent;
use crate::runner::Runner;

pub use search::{Engine, SearchKey};
pub use service::{NewTokens, Post, Service, ServiceError, ServiceKeys};

/// Randomness in the name of an exchange, in bytes.
const CORRELATION_BYTES: usize = 8;

/// Pages and searches.
pub struct Web {
    runner: Runner,
    client: Client,
    journal: Arc<Journal>,
    engine: Option<Engine>,
    /// Asks an engine on this machine, and nobody else.
    engines: Option<Client>,
}

impl Web {
    /// Asks with `client`, records each hop in `journal`, searches with `engine` if there is one.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn new(client: Client, journal: Arc<Journal>, engine: Option<Engine>) -> io::Result<Self> {
        Ok(Self { runner: Runner::new()?, client, journal, engine, engines: None })
    }

    /// The engine is asked with a client of its own: whose dialer is open for it, where it is on this machine.
    #[must_use]
    pub fn asking_the_engine_with(mut self, client: Client) -> Self {
        self.engines = Some(client);
        self
    }

    /// Asks, and records every hop of it beside the decision that `permit` stands for.
    /// `hops` counts them.
    fn ask<E>(
        &self,
        permit: &Permit<E>,
        client: &Client,
        ask: Ask<'_>,
        hops: &mut usize,
    ) -> Result<Answer, AskError> {
        let (who, record) = (permit.who(), permit.record());
        let mut noted = Ok(());
        // Durable with the outcome, which the gate records and waits for.
        let mut see = |event: EgressEvent| {
            *hops = hops.saturating_add(1);
            if let Err(error) = event.note(&self.journal, who, Some(record)) {
                noted = Err(error);
            }
        };
        let answer = self.runner.run(client.ask(ask, &mut see));
        // INVARIANT (NothingSilent): of what is not recorded nothing is given out.
        let unnoted = |_| AskError::Failed("what was asked could not be recorded".to_owned());
        noted.map_err(unnoted).and(answer)
    }
}

/// How long an exchange may take that somebody wants to wait `wanted` milliseconds for.
fn total(wanted: Option<u64>, most: Duration) -> Duration {
    wanted.map_or(most, |it| Duration::from_millis(it).min(most))
}

/// What the agent is told of an exchange that ended at its first hop. There are nobody else's words in it: what
/// it names, the agent has named.
fn failed(error: &AskError) -> Output {
    match error {
        AskError::Refused(refused) => {
            Output::not_begun(format!("{} ({})", refused.reason, refused.rule))
        }
        AskError::Failed(reason) => {
            Output { status: Status::Failed, ..Output::text(reason.as_str()) }
        }
        AskError::Unanswered(reason) => Output::unanswered(reason.as_str()),
    }
}

/// The same of one that ended behind a redirect. What that named stands in marks, like all that servers say.
fn led_nowhere(error: &AskError, kind: Boundary, asked: &str) -> Output {
    let (said, rule) = match error {
        AskError::Refused(refused) => (&refused.reason, format!(" ({})", refused.rule)),
        AskError::Failed(reason) | AskError::Unanswered(reason) => (reason, String::new()),
    };
    let marked = nonce().map(|it| boundary::wrap(kind, asked, said, &it));
    let marked = marked.unwrap_or_default();
    let text = format!("a redirect came to nothing{rule}\n{marked}");
    Output { status: Status::Failed, ..Output::text(text) }
}

fn random<const N: usize>() -> Result<[u8; N], Output> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map(|()| bytes)
        .map_err(|error| Output::not_begun(format!("the system gives no randomness: {error}")))
}

fn nonce() -> Result<Nonce, Output> {
    random().map(Nonce::new)
}

fn correlation() -> Result<String, Output> {
    random::<CORRELATION_BYTES>().map(|it| HEXLOWER.encode(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_waits_for_as_long_as_it_wants_and_no_longer_than_anybody() {
        let most = Duration::from_secs(30);
        assert_eq!(total(None, most), most);
        assert_eq!(total(Some(1000), most), Duration::from_secs(1));
        assert_eq!(total(Some(30_000), most), most);
        assert_eq!(total(Some(u64::MAX), most), most);
    }

    #[test]
    fn what_servers_named_stands_in_marks_and_the_rule_does_not() {
        let refused = || scan::net::Refused {
            rule: scan::net::Rule::Name,
            reason: "`obey.example`".to_owned(),
        };
        let first = failed(&AskError::Refused(refused()));
        assert_eq!((first.status, &*first.body), (Status::NotBegun, "`obey.example` (net-name)"));
        let said = failed(&AskError::Failed("it took too long".to_owned()));
        assert_eq!((said.status, &*said.body), (Status::Failed, "it took too long"));
        let later =
            led_nowhere(&AskError::Refused(refused()), Boundary::Fetched, "https://a.example/");
        let (outside, inside) = later.body.split_once('\n').unwrap();
        assert_eq!(later.status, Status::Failed);
        assert_eq!(outside, "a redirect came to nothing (net-name)");
        assert!(inside.starts_with("<fetched_content id=") && inside.contains("obey.example"));
        let failed = AskError::Failed("no answer".to_owned());
        let later = led_nowhere(&failed, Boundary::Fetched, "https://a.example/");
        assert!(later.body.starts_with("a redirect came to nothing\n<fetched"), "{}", later.body);
    }

    #[test]
    fn numbers_are_new_each_time() {
        assert_eq!(correlation().unwrap().len(), 2 * CORRELATION_BYTES);
        assert_ne!(correlation().unwrap(), correlation().unwrap());
    }
}
