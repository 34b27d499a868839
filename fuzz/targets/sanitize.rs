//! A text from outside: treated whatever it is.

#![no_main]

use scan::boundary::{Boundary, Nonce};
use scan::sanitize::{Found, Frame, Plan, Sanitized, Treatment, TrustLevel, sanitize};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let nonce = Nonce::new([7; 16]);
    let mut plan = Plan::of(TrustLevel::External);
    (plan.secrets, plan.personal) = (Treatment::Clean, Treatment::Clean);
    plan.addresses = Treatment::Clean;
    let frame = Frame { kind: Boundary::Tool, source: "fuzz", nonce: &nonce };
    let found = Found::new(&text, &plan);
    if let Sanitized::Changed(shown) = sanitize(&text, &found, &plan, frame) {
        assert!(!shown.is_empty() || text.is_empty());
    }
});
