//! The only way out: what an agent asks of the web goes through here, or not at all.
//!
//! A name is resolved, every address it has is vetted, and exactly a vetted address is dialled; the name
//! stays that of the certificate. Each hop of a redirect takes the whole way again.
//!
//! INVARIANT (OneGate): whatever is asked for here is asked for by spending a permit.
//!
//! INVARIANT (GlobalOnly): no socket is opened to an address that [`scan::net::vet`] refuses. The exceptions have ugly
//! names: what the operator has opened in the settings, MCP servers that a person has named, and servers that tests and benchmarks bring themselves.

mod body;
mod carried;
mod client;
mod connect;
mod dial;
mod event;
mod headers;
mod limits;
mod messengers;
mod models;
mod named;
mod passing;
mod resolve;
mod rules;
mod runner;
mod slots;
mod tls;
mod tunnel;
mod using;
mod web;
mod why;
mod wire;

pub use carried::{Allowance, Carried};
pub use client::{AskError, Client};
pub use dial::{DialError, Dialer, Dialled};
pub use event::{EgressEvent, Outcome};
pub use limits::{ADDRESSES_MAX, FIELDS_MAX, Limits, REDIRECTS_MAX};
pub use messengers::{Messengers, ReachesMessenger, Telling, Told};
pub use models::{
    MODEL_HEAD_MAX, MODEL_IDLE_MAX, MODEL_TOTAL_MAX, ModelAnswer, ModelServers, Waits,
};
pub use named::{Arrived, NamedServers, Piece, Question, Verb};
pub use passing::{Arriving, Cut};
pub use resolve::{Looking, Resolve, SystemResolver};
pub use rules::{PAYLOAD_BYTES_MAX, Rules, Signs};
pub use tls::{Trust, TrustError};
pub use tunnel::{METHOD, URL, Ways};
pub use web::{Engine, NewTokens, Post, SearchKey, Service, ServiceError, ServiceKeys, Web};
