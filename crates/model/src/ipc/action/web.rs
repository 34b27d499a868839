//! Reading from the web.

use crate::ipc::declare::{choice, object};
use crate::ipc::headers::Headers;
use crate::ipc::limits::{FETCH_MS_MAX, FETCH_MS_MIN, SEARCH_RESULTS_MAX, SEARCH_UNITS_MAX};
use crate::ipc::number::Whole;
use crate::ipc::text::Text;
use crate::ipc::url::WebUrl;

object! {
    /// Fetch a page.
    WebFetch {
        /// Which.
        "url" url: WebUrl,
        /// How; `GET` if absent.
        "method" method: Option<FetchMethod>,
        /// With which header fields.
        "headers" headers: Option<Headers>,
        /// How long to wait, in milliseconds.
        "timeoutMs" timeout_ms: Option<Whole<FETCH_MS_MIN, FETCH_MS_MAX>>,
        /// What is wanted of the page, where a model reads it first. Nobody on the web is told.
        "query" query: Option<Text<SEARCH_UNITS_MAX>>,
    }
}

choice! {
    /// How a page may be fetched: in ways that change nothing.
    FetchMethod {
        /// All of it.
        "GET" Get,
        /// The header fields alone.
        "HEAD" Head,
    }
}

object! {
    /// Search the web.
    WebSearch {
        /// What for.
        "query" query: Text<SEARCH_UNITS_MAX>,
        /// How many results at most.
        "maxResults" max_results: Option<Whole<1, SEARCH_RESULTS_MAX>>,
    }
}
