//! Every limit of the server that is no setting, with its unit.

use std::time::Duration;

/// The longest body of a request, and the longest message of a socket, in bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// How long the head of a request may take.
pub const HEAD_MAX: Duration = Duration::from_secs(10);
/// How long a body may take.
pub const BODY_MAX: Duration = Duration::from_secs(30);
/// Connections at once, whoever they are of.
pub const CONNECTIONS_MAX: usize = 1024;
/// Connections at once from one address that is not a proxy of ours.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 512;
/// Addresses, users and sessions that are counted at once; the stalest is forgotten.
pub const COUNTED_MAX: usize = 10_000;
/// The longest token, in bytes. Longer ones are wrong without a look.
pub const TOKEN_BYTES_MAX: usize = 512;
/// How long a ticket opens a socket.
pub const TICKET_MAX: Duration = Duration::from_secs(30);
/// Tickets at once.
pub const TICKETS_MAX: usize = 1000;
/// Of these, tickets of one user.
pub const TICKETS_PER_USER_MAX: usize = 50;
/// Pings and the like of one socket in a minute.
pub const CONTROLS_PER_MINUTE_MAX: usize = 600;
/// How long a count of open sessions counts, so that whoever asks often has nothing counted often.
pub const OPEN_CACHE: Duration = Duration::from_millis(250);
/// How long a turn may take to end whose session is deleted.
pub const DELETED_WITHIN: Duration = Duration::from_secs(20);
/// Frames that wait for one socket.
pub const OUTGOING_MAX: usize = 2048;
/// How long a connection may take nothing of what it is sent.
pub const SEND_MAX: Duration = Duration::from_secs(30);
/// What a socket may hold back, in bytes.
pub const WRITE_BUFFER_BYTES_MAX: usize = 4 << 20;
/// Frames of one session that are kept for whoever comes back.
pub const REPLAY_MAX: usize = 1000;
/// The same, in bytes.
pub const REPLAY_BYTES_MAX: usize = 4 << 20;
/// How long they are kept.
pub const REPLAY_AGE_MAX: Duration = Duration::from_secs(30 * 60);
/// How often old ones are swept away.
pub const SWEEP: Duration = Duration::from_secs(5 * 60);
/// Sessions whose frames are kept.
pub const ROOMS_MAX: usize = 1000;
/// The same, of one user.
pub const ROOMS_PER_USER_MAX: usize = 100;
/// Messages of one socket that wait for their turn or have it.
pub const TURNS_PER_SOCKET_MAX: usize = 16;
/// How long a message waits for the one before it.
pub const TURN_WAIT_MAX: Duration = Duration::from_secs(5 * 60);
/// Messages that wait for one session.
pub const WAITING_MAX: usize = 64;
/// How long turns that run may take once the server is to end.
pub const DRAIN_MAX: Duration = Duration::from_secs(30);
/// How long workers may take to end after that.
pub const WORKERS_END_MAX: Duration = Duration::from_secs(5);
/// How often files are looked at, and how long they must have been quiet.
pub const DEBOUNCE: Duration = Duration::from_millis(500);
/// Threads for what blocks and is short: the books, and files.
pub const BLOCKING_THREADS_MAX: usize = 8;
/// Sessions that a list shows.
pub const SESSIONS_SHOWN_MAX: u32 = 500;
/// Sessions that one user may have.
pub const SESSIONS_PER_USER_MAX: u32 = 10_000;
/// Messages of a session that are shown at once.
pub const MESSAGES_SHOWN_MAX: usize = 500;
/// Their bytes, unless it is one.
pub const MESSAGES_BYTES_MAX: usize = 4 << 20;
/// Sessions that are forgotten in one go when they are too old.
pub const STALE_MAX: u32 = 1000;
/// Messages that a client of the OpenAI-shaped door may send at once.
pub const CHAT_MESSAGES_MAX: usize = 200;
/// The shortest answer in tokens for which a question is asked, unless a shorter one is wanted.
pub const ANSWER_TOKENS_MIN: u64 = 256;
/// From which share of a limit on a user is warned, in percent.
pub const WARN_PERCENT: u64 = 80;
/// How long models may take to answer for `/health/deep`.
pub const MODELS_WAIT: Duration = Duration::from_secs(5);
/// How long what was looked at for `/health/deep` counts.
pub const DEEP_CACHE: Duration = Duration::from_secs(30);
/// How long errors count for the error rate.
pub const ERRORS_WINDOW: Duration = Duration::from_secs(3600);
/// After how many notes old ones are pruned.
pub const ERRORS_PRUNE_EVERY: usize = 1000;
/// Lines of the log that wait to be written; more are counted and dropped.
pub const LOG_LINES_MAX: usize = 10_000;
/// The longest text of an error that a worker or a runtime gives, in characters.
pub const ERROR_CHARS_MAX: usize = 1000;
/// Exports at once, each of another user.
pub const EXPORTS_AT_ONCE_MAX: usize = 2;
/// How long an export may take to be taken: others wait for its place.
pub const EXPORT_SENT_WITHIN: Duration = Duration::from_secs(600);
/// Files in an export, and their bytes.
pub const EXPORT_BYTES_MAX: usize = 256 << 20;
