//! The log: one line of JSON for each event. Events and categories are closed lists, and details are numbers, names
//! and codes: never what was said, keys, tokens, or what tools got and gave.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use aegx::timestamp;
use evidence::Clock;
use policy::access::LogLevel;
use serde_json::{Value, json};

use crate::limits::LOG_LINES_MAX;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    AuthSuccess,
    AuthFailure,
    AuthDeprecated,
    SessionCreated,
    SessionEnded,
    WorkerSpawned,
    WorkerReady,
    WorkerExit,
    WorkerError,
    WorkerKilled,
    WorkerIdleTimeout,
    WorkerReadyTimeout,
    WorkerFrameRejected,
    TurnBegan,
    TurnEnded,
    TurnFailed,
    ToolCalled,
    ToolCompleted,
    ToolDenied,
    CostReset,
    PrivacyExport,
    PrivacyDeletion,
    PrivacyRetention,
    AccessReloaded,
    ConfigReloaded,
    RosterReloaded,
    ReloadFailed,
    ServerStarted,
    ServerDraining,
    ServerShutdown,
    WsInvalidMessage,
    WsClosed,
    RequestAnswered,
    ChannelRefused,
    ChannelDown,
    ChannelUnsaid,
    InternalError,
}

impl Event {
    /// Its category and its name.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::AuthSuccess => ("auth", "success"),
            Self::AuthFailure => ("auth", "failure"),
            Self::AuthDeprecated => ("auth", "deprecated"),
            Self::SessionCreated => ("session", "created"),
            Self::SessionEnded => ("session", "ended"),
            Self::WorkerSpawned => ("worker", "spawned"),
            Self::WorkerReady => ("worker", "ready"),
            Self::WorkerExit => ("worker", "exit"),
            Self::WorkerError => ("worker", "error"),
            Self::WorkerKilled => ("worker", "killed"),
            Self::WorkerIdleTimeout => ("worker", "idle_timeout"),
            Self::WorkerReadyTimeout => ("worker", "ready_timeout"),
            Self::WorkerFrameRejected => ("worker", "frame_rejected"),
            Self::TurnBegan => ("turn", "began"),
            Self::TurnEnded => ("turn", "ended"),
            Self::TurnFailed => ("turn", "failed"),
            Self::ToolCalled => ("tool", "called"),
            Self::ToolCompleted => ("tool", "completed"),
            Self::ToolDenied => ("tool", "denied"),
            Self::CostReset => ("cost", "reset"),
            Self::PrivacyExport => ("privacy", "export"),
            Self::PrivacyDeletion => ("privacy", "deletion"),
            Self::PrivacyRetention => ("privacy", "retention"),
            Self::AccessReloaded => ("access", "reloaded"),
            Self::ConfigReloaded => ("config", "reloaded"),
            Self::RosterReloaded => ("roster", "reloaded"),
            Self::ReloadFailed => ("config", "refused"),
            Self::ServerStarted => ("server", "started"),
            Self::ServerDraining => ("server", "draining"),
            Self::ServerShutdown => ("server", "shutdown"),
            Self::WsInvalidMessage => ("ws", "invalid_message"),
            Self::WsClosed => ("ws", "closed"),
            Self::RequestAnswered => ("request", "answered"),
            Self::ChannelRefused => ("channel", "refused"),
            Self::ChannelDown => ("channel", "down"),
            Self::ChannelUnsaid => ("channel", "unsaid"),
            Self::InternalError => ("server", "error"),
        }
    }

    const fn level(self) -> LogLevel {
        match self {
            // They are many, and tell nothing that is not somewhere else.
            Self::WsClosed | Self::RequestAnswered | Self::TurnBegan => LogLevel::Debug,
            Self::AuthSuccess
            | Self::SessionCreated
            | Self::SessionEnded
            | Self::WorkerSpawned
            | Self::WorkerReady
            | Self::WorkerExit
            | Self::WorkerKilled
            | Self::WorkerIdleTimeout
            | Self::TurnEnded
            | Self::ToolCalled
            | Self::ToolCompleted
            | Self::CostReset
            | Self::PrivacyExport
            | Self::PrivacyDeletion
            | Self::PrivacyRetention
            | Self::AccessReloaded
            | Self::ConfigReloaded
            | Self::RosterReloaded
            | Self::ServerStarted
            | Self::ServerDraining
            | Self::ServerShutdown => LogLevel::Info,
            Self::AuthFailure
            | Self::AuthDeprecated
            | Self::ToolDenied
            | Self::WsInvalidMessage
            | Self::ChannelRefused
            | Self::ChannelDown
            | Self::ChannelUnsaid
            | Self::TurnFailed
            | Self::WorkerReadyTimeout
            | Self::WorkerFrameRejected
            | Self::WorkerError => LogLevel::Warn,
            Self::ReloadFailed | Self::InternalError => LogLevel::Error,
        }
    }
}

/// Whom an event is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    pub user: Option<&'a str>,
    pub agent: Option<&'a str>,
    pub session: Option<&'a str>,
}

/// Writes lines on a thread of its own, so that whoever reads slowly holds up nobody.
pub struct Log {
    lines: Mutex<Option<SyncSender<String>>>,
    writer: Mutex<Option<thread::JoinHandle<()>>>,
    dropped: AtomicU64,
    clock: Arc<dyn Clock>,
}

impl Log {
    /// A log that ends up in `out`.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub fn to(out: impl Write + Send + 'static, clock: Arc<dyn Clock>) -> std::io::Result<Self> {
        let (lines, waiting) = sync_channel(LOG_LINES_MAX);
        let write = move || write_all(out, &waiting);
        let writer = thread::Builder::new().name("serve-log".to_owned()).spawn(write)?;
        Ok(Self {
            lines: Mutex::new(Some(lines)),
            writer: Mutex::new(Some(writer)),
            dropped: AtomicU64::new(0),
            clock,
        })
    }

    /// Writes an event down, if its level counts.
    pub fn event(&self, least: LogLevel, event: Event, about: About<'_>, details: Value) {
        if event.level() < least {
            return;
        }
        let (category, name) = event.names();
        let level = match event.level() {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        };
        let line = json!({
            "timestamp": timestamp::from_unix(self.clock.unix_seconds()),
            "level": level,
            "userId": about.user,
            "agentId": about.agent,
            "sessionId": about.session,
            "category": category,
            "event": format!("{category}.{name}"),
            "details": details,
            "dropped": self.dropped.load(Ordering::Relaxed),
        });
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Err(TrySendError::Full(_))) =
            lines.as_ref().map(|it| it.try_send(format!("{line}\n")))
        {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes what waits, and ends.
    pub fn close(&self) {
        drop(self.lines.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // Nothing is left to be said of it.
            let _ = writer.join();
        }
    }
}

fn write_all(mut out: impl Write, lines: &Receiver<String>) {
    for line in lines {
        // Whoever closed the log does not want it.
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
