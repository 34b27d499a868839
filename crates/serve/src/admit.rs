//! Whether a message may begin a turn: access → length → consent → rate.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::directory::{Directory, Known};
use crate::frame::ErrorCode;
use crate::turn::{Asked, Refused, internal};

/// May they, now, and may there be one more?
pub(crate) async fn admit(
    app: &Arc<App>,
    directory: &Directory,
    asked: &Asked,
) -> Result<(), Refused> {
    if app.is_draining() {
        return Err(Refused::new(ErrorCode::ShuttingDown, "the server is about to end"));
    }
    may_use(directory, &asked.known, &asked.key.agent)?;
    let limits = &directory.settings.rate_limits;
    if asked.content.chars().count() > limits.max_message_length.as_len() {
        let why = format!("a message has at most {} characters", limits.max_message_length.get());
        return Err(Refused::new(ErrorCode::MessageTooLarge, why));
    }
    consented(app, directory, &asked.known).await?;
    let limited = |why: &str, retry_after| Refused {
        retry_after: Some(retry_after),
        ..Refused::new(ErrorCode::RateLimited, why)
    };
    const MINUTE: Duration = Duration::from_secs(60);
    let most = limits.messages_per_minute.as_len();
    app.messages
        .admit(&asked.key.user, most, MINUTE)
        .map_err(|wait| limited("too many messages in a minute", wait))?;
    if app.queues.others_of(&asked.key) >= limits.concurrent_sessions.as_len() {
        return Err(limited("too many sessions have a turn running", MINUTE));
    }
    Ok(())
}

/// Is the agent there, and open to them?
pub(crate) fn may_use(directory: &Directory, known: &Known, agent: &str) -> Result<(), Refused> {
    let manifest = directory
        .manifest(agent)
        .ok_or_else(|| Refused::new(ErrorCode::AgentNotFound, "there is no such agent"))?;
    known
        .may_use(manifest)
        .map_err(|objection| Refused::new(ErrorCode::AccessDenied, objection.for_person))
}

/// Did they agree to the policy of now?
pub(crate) async fn consented(
    app: &Arc<App>,
    directory: &Directory,
    known: &Known,
) -> Result<(), Refused> {
    let user = known.name().to_string();
    let agreed = app.blocking(move |app| app.books.consent(&user)).await.and_then(Result::ok);
    match agreed {
        Some(version) if version.as_ref() == Some(&directory.settings.privacy.policy_version.0) => {
            Ok(())
        }
        Some(_) => {
            let why = "agree to the policy first: `consent_granted`, or POST /api/consent";
            Err(Refused::new(ErrorCode::ConsentRequired, why))
        }
        None => Err(internal("the books do not answer")),
    }
}
