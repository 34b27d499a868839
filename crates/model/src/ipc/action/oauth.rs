//! Calling a service in the user's name.

use crate::ipc::declare::{choice, object};
use crate::ipc::headers::Headers;
use crate::ipc::limits::{BODY_UNITS_MAX, PATH_UNITS_MAX, SERVICE_UNITS_MAX};
use crate::ipc::text::Text;

object! {
    /// Call a service in the user's name. The token is added outside the agent's reach.
    OauthCall {
        /// Which service.
        "service" service: Text<SERVICE_UNITS_MAX>,
        /// How.
        "method" method: OauthMethod,
        /// The path of the call.
        "path" path: Text<PATH_UNITS_MAX>,
        /// What to send.
        "body" body: Option<Text<BODY_UNITS_MAX>>,
        /// With which header fields.
        "headers" headers: Option<Headers>,
    }
}

choice! {
    /// How a service may be called.
    OauthMethod {
        /// Read.
        "GET" Get,
        /// Add.
        "POST" Post,
        /// Replace.
        "PUT" Put,
        /// Change.
        "PATCH" Patch,
        /// Remove.
        "DELETE" Delete,
    }
}
