//! What must hold for every text.

use crate::{Decision, Reading, read};

/// Reads any bytes as a command and checks what must hold.
///
/// # Errors
///
/// Says what does not hold.
pub fn command(bytes: &[u8]) -> Result<Reading, &'static str> {
    let text = String::from_utf8_lossy(bytes);
    let reading = read(&text);
    if (reading.decision == Decision::Allow) != reading.decisive.is_none() {
        return Err("a decision has no reason, or a reason no decision");
    }
    if reading.findings.iter().any(|it| it.decision > reading.decision) {
        return Err("a finding is stricter than the decision");
    }
    let again = read(&text);
    if again.normalized != reading.normalized || again.decision != reading.decision {
        return Err("the same text is read in two ways");
    }
    Ok(reading)
}
