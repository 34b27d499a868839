//! What browsers may cost.

use std::time::Duration;

/// Browsers of all sessions together. Where we are root, each runs as a user of its own; there are as many.
pub const BROWSERS_MAX: usize = 8;
/// Browsers of one session, if nothing is said.
pub const PER_SESSION_DEFAULT: usize = 2;
/// A browser that nobody uses for so long ends, if nothing is said.
pub const IDLE_DEFAULT: Duration = Duration::from_secs(300);
/// Pages of one browser. What a page opens beyond that is closed.
pub const PAGES_MAX: usize = 4;

/// Until a browser that was started answers.
pub(crate) const LAUNCH: Duration = Duration::from_secs(30);
/// For one order that needs no page.
pub(crate) const ORDER: Duration = Duration::from_secs(10);
/// Until the first byte of a page is there.
pub(crate) const NAVIGATE: Duration = Duration::from_secs(30);
/// Until a page has loaded. It is shown as far as it is then.
pub(crate) const LOAD: Duration = Duration::from_secs(10);
/// How long it is waited for what a click sets off.
pub(crate) const REACT: Duration = Duration::from_millis(250);
/// How long it is waited for a page that another one opened to begin.
pub(crate) const OPEN: Duration = Duration::from_secs(2);
/// To write one order.
pub(crate) const WRITE: Duration = Duration::from_secs(5);
/// Between being told to end and being ended.
pub(crate) const END: Duration = Duration::from_secs(2);
/// How often it is looked whether a browser is idle or has ended.
pub(crate) const LOOK: Duration = Duration::from_secs(2);

/// The longest message of a browser, in bytes. One that sends a longer one is ended.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// The text of a snapshot, in bytes.
pub(crate) const SNAPSHOT_BYTES_MAX: usize = 200_000;
/// Elements of a page that is described.
pub(crate) const ELEMENTS_MAX: u64 = 50_000;
/// Elements of a snapshot that can be clicked on or typed into.
pub(crate) const REFS_MAX: usize = 5_000;
/// Frames of a page that are described.
pub(crate) const FRAMES_MAX: usize = 32;
/// How deep a snapshot goes.
pub(crate) const DEPTH_MAX: usize = 64;
/// The name of an element, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 300;
/// The title of a page, in characters.
pub(crate) const TITLE_CHARS_MAX: usize = 200;
/// A picture of a page, in bytes before it is written in letters.
pub(crate) const PICTURE_BYTES_MAX: usize = 2 << 20;
/// Requests whose challenges are remembered.
pub(crate) const CHALLENGES_MAX: usize = 1024;
/// What a browser says when it does not start, in bytes.
pub(crate) const LAST_WORDS_BYTES_MAX: u64 = 4096;

/// The size of a page if nothing is said, in pixels.
pub(crate) const VIEWPORT: (u64, u64) = (1280, 720);

/// What the operator may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Browsers of one session.
    pub per_session: usize,
    /// A browser that nobody uses for so long ends.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_session: PER_SESSION_DEFAULT, idle: IDLE_DEFAULT }
    }
}
