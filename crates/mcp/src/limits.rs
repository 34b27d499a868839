//! Limits of what peers may send, and of what is kept for them. Each is a constant with its unit.

use std::time::Duration;

/// Bytes of one message, without its line end.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Levels of objects and arrays within one message.
pub const DEPTH_MAX: usize = 128;
/// Bytes of a request's id, as text.
pub const ID_BYTES_MAX: usize = 256;
/// Bytes of a method's name.
pub const METHOD_BYTES_MAX: usize = 128;
/// Requests of the client that are under way at one time, at all servers together.
pub const OPEN_REQUESTS_MAX: usize = 1024;
/// Requests of one server to the client that are under way at one time.
pub const SERVER_REQUESTS_MAX: usize = 64;
/// Requests that wait until a server is ready or has listed its tools.
pub const WAITING_MAX: usize = 64;
/// Ids of cancelled requests that are remembered, so that a late answer finds no new request.
pub const CANCELLED_MAX: usize = 1024;
/// Tools of one server.
pub const TOOLS_MAX: usize = 2000;
/// Pages of one list that are asked for.
pub const PAGES_MAX: usize = 200;
/// Bytes of one tool's definition.
pub const DEFINITION_BYTES_MAX: usize = 256 * 1024;
/// Characters of a tool's name, as the protocol says; with the server's prefix, too.
pub const TOOL_NAME_CHARS_MAX: usize = 128;
/// Characters of a server's name.
pub const SERVER_NAME_CHARS_MAX: usize = 32;
/// Servers behind one client.
pub const SERVERS_MAX: usize = 64;
/// Addresses of resources, prompts and tasks whose server is remembered.
pub const ROUTES_MAX: usize = 20_000;
/// Open subscriptions of one client.
pub const SUBSCRIPTIONS_MAX: usize = 64;

/// Levels of a tool's schema.
pub const SCHEMA_DEPTH_MAX: usize = 48;
/// Objects, arrays and values within a tool's schema.
pub const SCHEMA_NODES_MAX: usize = 20_000;
/// Steps that checking one call's arguments may take, counted before it is done.
pub const SCHEMA_STEPS_MAX: usize = 1_000_000;
/// Bytes of a compiled pattern of a schema.
pub const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of what is said about arguments that do not fit.
pub const VIOLATION_BYTES_MAX: usize = 600;

/// Questions to a person that are open at one time.
pub const APPROVALS_MAX: usize = 256;
/// Requests to the client that one result of a server may bring.
pub const INPUT_REQUESTS_MAX: usize = 8;
/// Times that a server may want input for one call of a client of the other era.
pub const INPUT_ROUNDS_MAX: u32 = 16;
/// Time that a person has to answer.
pub const APPROVAL_WAIT: Duration = Duration::from_secs(300);
/// Time that a server has to answer `server/discover` before it is taken for a legacy one.
pub const DISCOVER_WAIT: Duration = Duration::from_secs(5);
/// Time that a server has to answer `initialize`, when it is we who ask: some are downloaded first.
pub const INITIALIZE_WAIT: Duration = Duration::from_secs(120);
/// Handshakes of either era that are tried with one server.
pub const HANDSHAKES_MAX: u32 = 2;
/// Time that a client of several servers waits for the slowest; those that come later are announced.
pub const HANDSHAKE_WAIT: Duration = Duration::from_secs(10);
/// Time that a server has to list what it has, when it is we who ask.
pub const LIST_WAIT: Duration = Duration::from_secs(20);

/// Bytes of one notification of a server.
pub const NOTIFICATION_BYTES_MAX: usize = 256 * 1024;
/// Notifications of one server that are passed on in one period.
pub const NOTIFICATIONS_MAX: u32 = 500;
/// Period that [`NOTIFICATIONS_MAX`] counts for.
pub const NOTIFICATIONS_PERIOD: Duration = Duration::from_secs(1);

/// Notifications of one server whose texts are judged in one period; of more, the texts are not passed on.
pub const NOTICES_JUDGED_MAX: u32 = 50;
/// Bytes of texts in one such notification that are judged; of one with more, the text is not passed on.
pub const NOTICE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of such texts of one server that are judged in one period.
pub const NOTICE_BYTES_PERIOD_MAX: u32 = 64 * 1024;
/// Bytes of such texts that are judged about the progress of one call.
pub const NOTICE_BYTES_CALL_MAX: usize = 256 * 1024;
/// Texts of one server that were left out and are recorded; that there were more, nobody needs.
pub const NOTICES_LEFT_OUT_TOLD_MAX: u32 = 1;
/// Bytes of words, and of texts with spaces, that are passed on beside results without a look.
pub const WORDS_BYTES_MAX: usize = 24;
/// Bytes of all texts, ids and times included, that are passed on in the same way.
pub const UNREAD_BYTES_MAX: usize = 512;
/// Letters in a row from which on they count as a word, in a text with digits.
pub const RUN_BYTES_MIN: usize = 4;
/// Bytes of one text with digits and without spaces that is passed on in the same way.
pub const WORD_BYTES_MAX: usize = 100;

/// Messages that wait to be written to one peer.
pub const QUEUE_MESSAGES_MAX: usize = 4096;
/// Bytes that wait to be written to one peer; more than this and it counts as stuck.
pub const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes waiting for the client above which servers are not read any further.
pub const QUEUE_BYTES_CALM: usize = 4 * 1024 * 1024;

/// Bytes of a description that a person is shown.
pub const SHOWN_DESCRIPTION_BYTES_MAX: usize = 1024;
/// Bytes of any other text of a definition that a person is shown.
pub const SHOWN_TEXT_BYTES_MAX: usize = 512;
/// Characters of a value within a line of a log.
pub const SHOWN_LOG_CHARS_MAX: usize = 64;
/// Lines of the difference between two definitions.
pub const DIFF_LINES_MAX: usize = 200;
