//! Whether a message may begin a turn: rate, before anything else is done for it → access → length → consent.

use std::sync::Arc;
use std::time::Duration;

use vault::access::AccessError;

use crate::app::App;
use crate::directory::{Directory, Known, issued};
use crate::frame::ErrorCode;
use crate::turn::{Asked, Refused, internal};

const MINUTE: Duration = Duration::from_secs(60);

/// Counts a message of a user, and refuses the one too many.
pub(crate) fn charge(app: &App, user: &str) -> Result<(), Refused> {
    let most = app.directory().settings.rate_limits.messages_per_minute.as_len();
    let charged = app.messages.admit(&user.to_owned(), most, MINUTE);
    charged.map_err(|wait| limited("too many messages in a minute", wait))
}

/// Counts whatever a socket of a user says, as a request is counted, and refuses the one too many.
pub(crate) fn charge_socket(app: &App, user: &str) -> Result<(), Refused> {
    let limits = &app.directory().settings.rate_limits;
    let window = Duration::from_millis(limits.window_ms.get());
    let most = limits.max_requests_per_window.as_len();
    let charged = app.heard.admit(&user.to_owned(), most, window);
    charged.map_err(|wait| limited("too many messages on sockets", wait))
}

fn limited(why: &str, retry_after: Duration) -> Refused {
    Refused { retry_after: Some(retry_after), ..Refused::new(ErrorCode::RateLimited, why) }
}

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
    if asked.chars() > limits.max_message_length.as_len() {
        let why = format!("a message has at most {} characters", limits.max_message_length.get());
        return Err(Refused::new(ErrorCode::MessageTooLarge, why));
    }
    consented(app, directory, &asked.known).await?;
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
            let version = &directory.settings.privacy.policy_version.0;
            let why = format!(
                "agree to the policy {version} first: `consent_granted`, or POST /api/consent"
            );
            Err(Refused::new(ErrorCode::ConsentRequired, why))
        }
        None => Err(internal("the books do not answer")),
    }
}

/// The same message of the same person, as the files say it now.
pub(crate) async fn again(app: &Arc<App>, asked: &Asked) -> Result<Asked, Refused> {
    let known = asked.known.clone();
    let look = move |app: &App| {
        let issued = issued(&app.parts.home)?;
        Ok::<_, AccessError>(app.directory().again(&known, &issued, app.now()))
    };
    match app.blocking(look).await {
        Some(Ok(Some(known))) => Ok(Asked { known, ..asked.clone() }),
        Some(Ok(None)) => {
            Err(Refused::new(ErrorCode::TokenRevoked, "the token opens nothing any more"))
        }
        // INVARIANT (FailClosed): who cannot be looked up is nobody.
        Some(Err(_)) | None => Err(internal("the tokens cannot be read")),
    }
}
