//! Limits of what HTTP clients may ask for, and of what is kept for them. Each is a constant with its unit.

use std::time::Duration;

/// Connections at one time. Whoever comes then is turned away at once.
pub const CONNECTIONS_MAX: usize = 512;
/// Sessions at one time, each with servers of its own; where the operator says nothing else.
pub const SESSIONS_MAX: usize = 128;
/// One client has at most this part of the sessions, where clients can be told apart: a quarter.
pub const CLIENT_SHARE: usize = 4;
/// Requests of one session that have no answer yet.
pub const REQUESTS_MAX: usize = 512;
/// Streams of one session that are kept after they ended, for a client that comes back.
pub const ENDED_STREAMS_MAX: usize = 32;
/// Bytes of one session that were sent already and are kept for a client that comes back.
pub const KEPT_BYTES_MAX: usize = 1024 * 1024;
/// Events of one stream that were sent already and are kept for a client that comes back.
pub const KEPT_EVENTS_MAX: usize = 256;
/// Bytes of one session that wait to be read by its client; with more, the slowest stream ends.
pub const UNREAD_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Events of one stream that wait to be read; with more, it ends.
pub const UNREAD_EVENTS_MAX: usize = 4096;
/// Messages of one session that wait to be taken up.
pub const INBOX_MESSAGES_MAX: usize = 1024;
/// Bytes of one session that wait to be taken up.
pub const INBOX_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of a request's head.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Fields of a request's head.
pub const FIELDS_MAX: usize = 64;
/// Bytes of an access token.
pub const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Keys of an authorization server.
pub const KEYS_MAX: usize = 64;
/// Bytes of a file of keys.
pub const KEYS_BYTES_MAX: u64 = 1024 * 1024;
/// Seconds that the clock of an authorization server may differ from ours.
pub const CLOCK_SKEW_SECONDS: i64 = 60;

/// Time for a request's head, and between two requests of one connection.
pub const HEAD_WAIT: Duration = Duration::from_secs(30);
/// Time for a request's body.
pub const BODY_WAIT: Duration = Duration::from_secs(30);
/// Time in which a client takes something of what it is sent, or its connection ends.
pub const WRITE_WAIT: Duration = Duration::from_secs(60);
/// Time after which a request that has no answer yet gets a stream, so that nobody in between gives up.
pub const STREAM_AFTER: Duration = Duration::from_secs(5);
/// Time between two signs of life on a stream.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Time without a request or a stream after which a session ends.
pub const SESSION_IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// Time between two looks at what has been idle for too long.
pub const SWEEP: Duration = Duration::from_secs(5);
/// Age that a set of servers must have before a broken one is started anew.
pub const RESTART_AFTER: Duration = Duration::from_secs(2);
/// Time between two readings of the keys because a token names one that is not known.
pub const KEYS_WAIT: Duration = Duration::from_secs(60);
/// Time after which keys are read again, so that one that its issuer took back does not count for ever.
pub const KEYS_FRESH: Duration = Duration::from_secs(60 * 60);
/// Time after which keys that could not be read again do not count any more.
pub const KEYS_AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
