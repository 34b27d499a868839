//! A definition of a tool: read whatever it is; what is left of it says no order again, or says that it does.

#![no_main]

use scan::text::Verdict;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let definition = serde_json::from_slice(bytes)
        .unwrap_or_else(|_| serde_json::json!({ "name": "t", "description": text }));
    let scanned = scan::tool::scan(&definition);
    let again = scan::tool::scan(&scanned.cleaned);
    assert_eq!(again.verdict > Verdict::Clean, scanned.still_orders);
    let _ = scan::tool::look_alikes(&[
        scan::tool::Named { server: "a", tool: &text },
        scan::tool::Named { server: "b", tool: "send_email" },
    ]);
});
