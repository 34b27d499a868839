//! Limits of what a server with an address may cost.

use crate::limits::MESSAGE_BYTES_MAX;
use std::time::Duration;

/// Requests to one server that are under way at one time; more are answered with an error.
pub const EXCHANGES_MAX: usize = 64;
/// Messages of one server that wait to be read; then it is not read any further.
pub const WAITING_MESSAGES_MAX: usize = 64;
/// Bytes of one event of a stream, its framing included.
pub const EVENT_BYTES_MAX: usize = MESSAGE_BYTES_MAX;
/// Bytes of the stream that answers one request.
pub const STREAM_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Bytes of the body of an answer that is no success.
pub const ERROR_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a session's id or an event's id.
pub const ID_BYTES_MAX: usize = 1024;
/// Time until the head of an answer to a request is there: a tool may work for long.
pub const ANSWER_WAIT: Duration = Duration::from_secs(600);
/// The same for a handshake.
pub const HANDSHAKE_WAIT: Duration = Duration::from_secs(60);
/// The same for a notification, behind which others wait.
pub const NOTIFICATION_WAIT: Duration = Duration::from_secs(10);
/// Time between two pieces of an answer; comments of a stream count.
pub const IDLE_WAIT: Duration = Duration::from_secs(300);
/// Time for the body of an answer that is one message.
pub const BODY_WAIT: Duration = Duration::from_secs(300);
/// Time that the end of an answer is waited for when its message is there.
pub const LEAVE_WAIT: Duration = Duration::from_millis(200);
/// Bytes that are read meanwhile.
pub const LEAVE_BYTES_MAX: usize = 64 * 1024;
/// Time for a farewell.
pub const FAREWELL_WAIT: Duration = Duration::from_secs(2);
/// Times that a stream which broke off before the answer is taken up again.
pub const RESUMES_MAX: u32 = 3;
/// Times in a row that a standing stream or a subscription is opened again although nothing came.
pub const RECONNECTS_MAX: u32 = 10;
/// Shortest time before a stream is opened again, whatever the server wishes.
pub const RETRY_MIN: Duration = Duration::from_secs(1);
/// Longest time.
pub const RETRY_MAX: Duration = Duration::from_secs(60);
/// How often it is looked whether anybody still waits.
pub const LOOK: Duration = Duration::from_millis(250);
/// Header fields that the parameters of one tool become.
pub const PARAMETERS_MAX: usize = 32;
