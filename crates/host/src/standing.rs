//! Answers that hold for more than one call, given by a door of the daemon or by a person's own command.

use aegx::timestamp;
use model::{Taint, UserId};
use monitor::approvals::Approval;
use monitor::standing::{Span, Standing};
use serde_json::{Value, json};

use crate::control::Deed;
use crate::gate::Gate;

/// What the record of such an answer says.
#[must_use]
pub fn content(it: &Standing) -> Value {
    json!({
        "action": it.action.as_str(),
        "agent": it.agent.as_str(),
        "approval": it.approval.to_string(),
        "expires": timestamp::from_unix(it.expires),
        "place": it.place,
        "reason": it.reason,
        "scope_sha256": it.scope,
        "span": it.span.as_str(),
        "tool": it.tool,
        "user": it.user.as_str(),
    })
}

/// Keeps that the yes of `by` to `approval` holds for a `span`. A call that is one of a kind has none: then the yes holds for
/// its session, which is less than was said.
///
/// # Errors
/// If it cannot be recorded or kept; then it holds for nothing.
pub(crate) fn give(
    gate: &Gate,
    approval: &Approval,
    span: Span,
    (by, reason, now): (UserId, String, i64),
) -> Result<Standing, String> {
    let text = |it: &dyn std::fmt::Display| it.to_string();
    let said = (by.clone(), reason, now);
    let given = match Standing::of(approval, span, said.clone()) {
        Ok(given) => given,
        Err(_) => Standing::of(approval, Span::Session, said).map_err(|it| text(&it))?,
    };
    let deed = Deed {
        kind: "approval_granted",
        by,
        taint: Taint::NONE,
        session: Some(given.session.clone()),
        after: None,
        content: content(&given).as_object().cloned().unwrap_or_default(),
    };
    let receipt = deed.record(&gate.journal, None).map_err(|it| text(&it))?;
    gate.store.give_standing(&given, &receipt).map_err(|it| text(&it))
}
