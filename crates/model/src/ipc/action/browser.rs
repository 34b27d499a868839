//! Driving a browser.

use crate::ipc::declare::object;
use crate::ipc::limits::{
    BROWSER_SESSION_UNITS_MAX, HEIGHT_PIXELS_MAX, HEIGHT_PIXELS_MIN, REF_MAX, TYPED_UNITS_MAX,
    WIDTH_PIXELS_MAX, WIDTH_PIXELS_MIN,
};
use crate::ipc::number::Whole;
use crate::ipc::text::Text;
use crate::ipc::url::WebUrl;

/// The name of a browser's session, as the browser gave it.
pub type BrowserSession = Text<BROWSER_SESSION_UNITS_MAX>;
/// The number of an element in a snapshot.
pub type ElementRef = Whole<0, REF_MAX>;

object! {
    /// Start a browser.
    BrowserLaunch {
        /// How.
        "config" config: Option<BrowserConfig>,
    }
}

object! {
    /// How a browser starts.
    BrowserConfig {
        /// Without a window?
        "headless" headless: Option<bool>,
        /// The size of its page.
        "viewport" viewport: Option<Viewport>,
    }
}

object! {
    /// The size of a browser's page.
    Viewport {
        /// In pixels.
        "width" width: Option<Whole<WIDTH_PIXELS_MIN, WIDTH_PIXELS_MAX>>,
        /// In pixels.
        "height" height: Option<Whole<HEIGHT_PIXELS_MIN, HEIGHT_PIXELS_MAX>>,
    }
}

object! {
    /// Go to a page.
    BrowserNavigate {
        /// In which session.
        "session" session: BrowserSession,
        /// Where to.
        "url" url: WebUrl,
    }
}

object! {
    /// Describe the page as text.
    BrowserSnapshot {
        /// In which session.
        "session" session: BrowserSession,
    }
}

object! {
    /// Click on an element.
    BrowserClick {
        /// In which session.
        "session" session: BrowserSession,
        /// On what.
        "ref" element: ElementRef,
    }
}

object! {
    /// Type text into an element.
    BrowserType {
        /// In which session.
        "session" session: BrowserSession,
        /// Into what.
        "ref" element: ElementRef,
        /// What.
        "text" text: Text<TYPED_UNITS_MAX>,
    }
}

object! {
    /// Take a picture of the page.
    BrowserScreenshot {
        /// In which session.
        "session" session: BrowserSession,
    }
}

object! {
    /// End a browser's session.
    BrowserClose {
        /// Which.
        "session" session: BrowserSession,
    }
}
