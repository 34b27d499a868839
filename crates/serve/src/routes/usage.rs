//! What was spent.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use policy::access::{Budget, Unit};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::books::{Spent, windows};
use crate::refusal::Refusal;

/// `GET /api/usage`: one's own, and for administrators everybody's.
pub(crate) async fn own(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Value>, Refusal> {
    let (user, name) = (Arc::clone(&caller.known.user), caller.known.name().to_string());
    let is_admin = user.may_administer().is_ok();
    let found = app.blocking(move |app| {
        let totals = app.books.totals(&name, "", app.now())?;
        let all = if is_admin { Some(app.books.summary(app.now())?) } else { None };
        Ok::<_, crate::books::BooksError>((totals, all))
    });
    let (totals, all) = found.await.and_then(Result::ok).ok_or_else(Refusal::broken)?;
    let budget = match &user.budget {
        Budget::Unlimited => Value::from("unlimited"),
        Budget::Limited(limits) => {
            let mut shown = json!({ "unit": word(limits.unit), "sessionLimit": limits.session });
            for (window, limit, spent) in windows(limits, &totals).into_iter().skip(1) {
                let used = spent.within(limits.unit);
                if let Some(fields) = shown.as_object_mut() {
                    fields.insert(window.to_owned(), json!({ "limit": limit, "used": used }));
                }
            }
            shown
        }
    };
    let mut body = json!({
        "user": caller.known.name().as_str(),
        "daily": amounts(totals.daily),
        "monthly": amounts(totals.monthly),
        "budget": budget,
    });
    if let (Some(all), Some(fields)) = (all, body.as_object_mut()) {
        let rows = all.into_iter().map(|(user, spent)| {
            json!({ "user": user, "tokens": spent.tokens, "usd": spent.within(Unit::Usd) })
        });
        fields.insert("summary".to_owned(), rows.collect::<Vec<_>>().into());
    }
    Ok(Json(body))
}

fn amounts(spent: Spent) -> Value {
    json!({ "tokens": spent.tokens, "usd": spent.within(Unit::Usd) })
}

fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Usd => "usd",
        Unit::Tokens => "tokens",
    }
}
