//! The limits of messages, each with its unit. Lengths of texts are in UTF-16 units, as the
//! programs that send the messages count them.

/// The longest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 10_000_000;
/// How deep arrays and objects may be nested, in levels; the deepest message needs three.
pub const NESTING_LEVELS_MAX: usize = 32;
/// How many values a message may hold, each array, object and item counted: the fullest message is a question to a model, whose
/// conversation and tools are kept to three quarters of it, and ten megabytes of `[[],[],…` would need far more memory than they have.
pub const VALUES_MAX: usize = 10_000;
/// How many issues an answer lists.
pub const ISSUES_MAX: usize = 20;
/// How much of a sender's own text an issue repeats, in characters.
pub const QUOTED_CHARS_MAX: usize = 64;

pub(super) const PROVIDER_UNITS_MAX: usize = 64;
pub(super) const MODEL_UNITS_MAX: usize = 128;
pub(super) const TURN_UNITS_MAX: usize = 200_000;
pub(super) const TURNS_MAX: usize = 200;
/// Blocks of one turn: an answer that calls sixteen tools at once has less than forty.
pub(super) const BLOCKS_MAX: usize = 100;
pub(super) const TOOL_USE_ID_UNITS_MAX: usize = 128;
/// How many tools a model is offered in one question.
pub const TOOLS_MAX: usize = 50;
/// The name of one of them.
pub const TOOL_NAME_UNITS_MAX: usize = 100;
/// What it does, in words.
pub const TOOL_DESCRIPTION_UNITS_MAX: usize = 2000;
/// A JSON Schema of the arguments of one tool, as text.
pub const TOOL_SCHEMA_UNITS_MAX: usize = 20_000;
pub(super) const TOKENS_MAX: u64 = 200_000;

/// A question to a model in one piece, and how it is to answer.
pub(super) const QUESTION_UNITS_MAX: usize = 100_000;
pub(super) const SYSTEM_UNITS_MAX: usize = 20_000;

pub(super) const ANSWER_UNITS_MAX: usize = 500_000;
pub(super) const PLACE_UNITS_MAX: usize = 1024;

pub(super) const SCOPE_UNITS_MAX: usize = 200;
pub(super) const MEMORY_UNITS_MAX: usize = 100_000;
pub(super) const SOURCE_UNITS_MAX: usize = 200;
pub(super) const QUERY_UNITS_MAX: usize = 10_000;
pub(super) const MEMORY_RESULTS_MAX: u64 = 100;

/// Something to do, and a note of a session: what a model is shown of a result holds one whole.
pub(super) const TASK_TEXT_UNITS_MAX: usize = 2000;
pub(super) const NOTE_UNITS_MAX: usize = 40_000;
pub(super) const NOTE_NAME_UNITS_MAX: usize = 64;

pub(super) const URL_UNITS_MAX: usize = 2048;
pub(super) const HEADERS_MAX: usize = 64;
pub(super) const HEADER_NAME_UNITS_MAX: usize = 200;
pub(super) const HEADER_VALUE_UNITS_MAX: usize = 4096;
pub(super) const FETCH_MS_MIN: u64 = 1000;
pub(super) const FETCH_MS_MAX: u64 = 30_000;
pub(super) const SEARCH_UNITS_MAX: usize = 1000;
pub(super) const SEARCH_RESULTS_MAX: u64 = 20;

pub(super) const BROWSER_SESSION_UNITS_MAX: usize = 128;
/// The largest whole number that every reader of JSON reads alike, 2⁵³ − 1.
pub(super) const REF_MAX: u64 = 9_007_199_254_740_991;
pub(super) const TYPED_UNITS_MAX: usize = 10_000;
pub(super) const WIDTH_PIXELS_MIN: u64 = 320;
pub(super) const WIDTH_PIXELS_MAX: u64 = 3840;
pub(super) const HEIGHT_PIXELS_MIN: u64 = 240;
pub(super) const HEIGHT_PIXELS_MAX: u64 = 2160;

pub(super) const SKILL_NAME_UNITS_MAX: usize = 200;
pub(super) const SKILL_UNITS_MAX: usize = 100_000;
pub(super) const REASON_UNITS_MAX: usize = 2000;

pub(super) const SERVICE_UNITS_MAX: usize = 128;
pub(super) const PATH_UNITS_MAX: usize = 2048;
pub(super) const BODY_UNITS_MAX: usize = 100_000;

pub(super) const JOB_UNITS_MAX: usize = 128;
pub(super) const SCHEDULE_UNITS_MAX: usize = 100;
pub(super) const PROMPT_UNITS_MAX: usize = 10_000;
/// The largest whole number that every reader of JSON reads alike, 2⁵³ − 1.
pub(super) const JOB_TOKENS_MAX: u64 = REF_MAX;
pub(super) const CHANNEL_UNITS_MAX: usize = 50;
pub(super) const ADDRESS_UNITS_MAX: usize = 200;

pub(super) const TASK_UNITS_MAX: usize = 50_000;
pub(super) const CONTEXT_UNITS_MAX: usize = 100_000;
pub(super) const SUB_AGENT_UNITS_MAX: usize = 128;
pub(super) const TASK_SECONDS_MIN: u64 = 5;
pub(super) const TASK_SECONDS_MAX: u64 = 600;
pub(super) const HANDLE_UNITS_MAX: usize = 128;
pub(super) const HANDLES_MAX: usize = 20;
pub(super) const COLLECT_MS_MIN: u64 = 1000;
/// Ten minutes.
pub(super) const COLLECT_MS_MAX: u64 = 600_000;

pub(super) const FILE_PATH_UNITS_MAX: usize = 1024;
pub(super) const PATTERN_UNITS_MAX: usize = 200;
pub(super) const FILE_UNITS_MAX: usize = 500_000;
pub(super) const EDIT_UNITS_MAX: usize = 500_000;
pub(super) const FIRST_LINE_MAX: u64 = 100_000_000;
pub(super) const FILE_LINES_MAX: u64 = 100_000;
pub(super) const FOLDER_LEVELS_MAX: u64 = 16;
pub(super) const SOUGHT_UNITS_MAX: usize = 1000;
pub(super) const FILE_RESULTS_MAX: u64 = 1000;

pub(super) const COMMAND_UNITS_MAX: usize = 50_000;
pub(super) const COMMAND_MS_MIN: u64 = 100;
/// Ten minutes.
pub(super) const COMMAND_MS_MAX: u64 = 600_000;

pub(super) const AUDIT_ACTION_UNITS_MAX: usize = 100;
pub(super) const AUDIT_RESULTS_MAX: u64 = 500;
/// How many digits of a second a time may have: nanoseconds.
pub(super) const FRACTION_DIGITS_MAX: usize = 9;
