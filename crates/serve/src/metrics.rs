//! Figures for Prometheus. Labels are closed lists: no user, agent, host or tool is one, so that their number
//! never grows and nothing is told by them.

use std::fmt::Write as _;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// How a request was answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Answered {
    pub(crate) route: Route,
    pub(crate) class: Class,
}

/// The routes that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Route {
    Health,
    Metrics,
    Agents,
    Sessions,
    Usage,
    Admin,
    Privacy,
    Chat,
    Socket,
    Other,
}

/// The class of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Class {
    Informational,
    Success,
    Redirection,
    ClientError,
    ServerError,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
}

/// Outcomes of turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Outcome {
    Answered,
    Interrupted,
    Refused,
    Failed,
}

/// The figures.
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) requests: Family<Answered, Counter>,
    pub(crate) turns: Family<Ended, Counter>,
    pub(crate) turn_seconds: Histogram,
    pub(crate) tokens: Counter,
    pub(crate) auth_failures: Counter,
    pub(crate) sockets: Gauge,
    pub(crate) running: Gauge,
}

/// Upper ends of the classes of durations, in seconds.
const SECONDS: [f64; 9] = [0.01, 0.05, 0.25, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0];

impl Default for Metrics {
    fn default() -> Self {
        let mut it = Self {
            registry: Registry::with_prefix("lazaret_serve"),
            requests: Family::default(),
            turns: Family::default(),
            turn_seconds: Histogram::new(SECONDS),
            tokens: Counter::default(),
            auth_failures: Counter::default(),
            sockets: Gauge::default(),
            running: Gauge::default(),
        };
        let registry = &mut it.registry;
        registry.register("requests", "Requests that were answered", it.requests.clone());
        registry.register("turns", "Turns that ended", it.turns.clone());
        registry.register("turn_seconds", "How long turns took", it.turn_seconds.clone());
        registry.register("tokens", "Tokens of models that were used", it.tokens.clone());
        registry.register("auth_failures", "Wrong tokens", it.auth_failures.clone());
        registry.register("sockets", "Sockets that are open", it.sockets.clone());
        registry.register("turns_running", "Turns that run", it.running.clone());
        it
    }
}

impl Metrics {
    /// All figures, as Prometheus reads them.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            text.clear();
            // A text in memory takes it.
            let _ = writeln!(text, "# the figures could not be written");
        }
        text
    }

    /// Notes one answer.
    pub(crate) fn answered(&self, path: &str, status: u16) {
        let class = match status {
            ..200 => Class::Informational,
            200..300 => Class::Success,
            300..400 => Class::Redirection,
            400..500 => Class::ClientError,
            500.. => Class::ServerError,
        };
        self.requests.get_or_create(&Answered { route: route(path), class }).inc();
    }
}

impl Route {
    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::Metrics => "metrics",
            Self::Agents => "agents",
            Self::Sessions => "sessions",
            Self::Usage => "usage",
            Self::Admin => "admin",
            Self::Privacy => "privacy",
            Self::Chat => "chat",
            Self::Socket => "socket",
            Self::Other => "other",
        }
    }
}

/// The kind of route that a path is of.
pub(crate) fn route(path: &str) -> Route {
    const ROUTES: [(&str, Route); 9] = [
        ("/health", Route::Health),
        ("/metrics", Route::Metrics),
        ("/api/agents", Route::Agents),
        ("/api/sessions", Route::Sessions),
        ("/api/usage", Route::Usage),
        ("/api/admin", Route::Admin),
        ("/api/", Route::Privacy),
        ("/v1/", Route::Chat),
        ("/ws", Route::Socket),
    ];
    ROUTES.iter().find(|it| path.starts_with(it.0)).map_or(Route::Other, |it| it.1)
}
