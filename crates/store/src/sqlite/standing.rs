//! Answers that hold for more than one call.

use evidence::Receipt;
use model::ipc::Uuid;
use model::{EffectKind, UserId};
use monitor::StateError;
use monitor::approvals::{ApprovalError, SETTLED_SECONDS_KEPT};
use monitor::standing::{STANDING_MAX, Span, Standing, Wanted};
use rusqlite::{Connection, Row, ToSql, params};
use serde::de::DeserializeOwned;

use super::SqliteStore;
use super::columns::{self, unreadable};
use crate::error::Broken;

/// About what one costs beside its texts.
const ROW_BYTES: usize = 4096;

const COLUMNS: &str = "id, span, session, user, agent, action, tool, scope, place, grounds, given_by, \
                       reason, created, expires, record, revoked_by, revoked_at, uses";
/// Those that hold at `?1`.
const HOLDS: &str = "revoked_at IS NULL AND expires > ?1";

impl SqliteStore {
    /// Keeps a yes that holds. The receipt proves that it was recorded first.
    ///
    /// # Errors
    /// If too many hold already, or it may not be durable.
    pub fn give_standing(
        &self,
        given: &Standing,
        receipt: &Receipt,
    ) -> Result<Standing, ApprovalError> {
        let given = Standing { record: receipt.id().to_string(), ..given.clone() };
        let text = |it: serde_json::Result<String>| it.map_err(Broken::new);
        let place = text(serde_json::to_string(&given.place))?;
        let grounds = text(serde_json::to_string(&given.grounds))?;
        let bytes = ROW_BYTES + place.len() + grounds.len();
        self.change(bytes, move |db| {
            let delete =
                "DELETE FROM standing WHERE min(expires, coalesce(revoked_at, expires)) < ?1";
            db.execute(delete, [given.created.saturating_sub(SETTLED_SECONDS_KEPT)])?;
            let holding = format!("SELECT count(*) FROM standing WHERE {HOLDS}");
            let holding: i64 = db.query_row(&holding, [given.created], |row| row.get(0))?;
            if holding >= STANDING_MAX {
                return Ok(Err(ApprovalError::TooManyStanding));
            }
            let sql = format!(
                "INSERT INTO standing ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
                 ?11, ?12, ?13, ?14, ?15, NULL, NULL, 0)"
            );
            db.prepare_cached(&sql)?.execute(params![
                given.id.to_string(),
                given.span.as_str(),
                given.session.as_str(),
                given.user.as_str(),
                given.agent.as_str(),
                given.action.as_str(),
                given.tool,
                given.scope,
                place,
                grounds,
                given.by.as_str(),
                given.reason,
                given.created,
                given.expires,
                given.record,
            ])?;
            Ok(Ok(given))
        })?
    }

    /// Takes one back, at once. The receipt proves that it was recorded first.
    ///
    /// # Errors
    /// If there is none that holds under this id, or it may not be durable.
    pub fn revoke_standing(
        &self,
        id: Uuid,
        by: &UserId,
        now: i64,
        _receipt: &Receipt,
    ) -> Result<(), ApprovalError> {
        let by = by.as_str().to_owned();
        let gone = self.change(ROW_BYTES, move |db| {
            let sql = format!(
                "UPDATE standing SET revoked_by = ?3, revoked_at = ?1 WHERE {HOLDS} AND id = ?2"
            );
            let gone = db.prepare_cached(&sql)?.execute(params![now, id.to_string(), by])?;
            // The yes to the one call that it began with goes with it.
            let once = "UPDATE approvals SET expires = min(expires, ?1) WHERE id = ?2 AND state = 'approved'";
            db.prepare_cached(once)?.execute(params![now, id.to_string()])?;
            Ok(gone)
        })?;
        if gone == 0 { Err(ApprovalError::NotFound { id }) } else { Ok(()) }
    }

    /// Those that hold at `now`, newest first; with `all`, those too that hold no more.
    ///
    /// # Errors
    /// If the store does not work.
    pub fn standings(
        &self,
        now: i64,
        all: bool,
        limit: u32,
    ) -> Result<Vec<Standing>, ApprovalError> {
        let which = if all { "?1 = ?1" } else { HOLDS };
        let tail = format!("WHERE {which} ORDER BY n DESC LIMIT ?2");
        Ok(self.look(|db| select(db, &tail, params![now, limit]))?)
    }

    /// The ids of questions that begin so, at most two: enough to see whether it is one.
    ///
    /// # Errors
    /// If the store does not work.
    pub fn approvals_beginning(&self, prefix: &str) -> Result<Vec<Uuid>, ApprovalError> {
        let prefix = prefix.to_owned();
        Ok(self.look(|db| {
            let sql =
                "SELECT id FROM approvals WHERE substr(id, 1, length(?1)) = ?1 ORDER BY n LIMIT 2";
            let mut rows = db.prepare_cached(sql)?;
            let ids = rows.query_map([prefix], |row| row.get::<_, String>(0))?;
            ids.map(|it| columns::uuid(&it?)).collect::<Result<Vec<_>, Broken>>()
        })?)
    }

    pub(super) fn standing_for(
        &self,
        wanted: &Wanted,
        now: i64,
    ) -> Result<Option<Standing>, StateError> {
        let call = wanted.call.digest.to_string();
        let kind = wanted.kind.as_ref().map(|it| it.0.clone());
        let tail = format!("WHERE {HOLDS} AND scope IN (?2, ?3) ORDER BY n DESC LIMIT 100");
        let found = self.look(|db| select(db, &tail, params![now, call, kind]))?;
        let Some(found) = found.into_iter().find(|it| it.covers(wanted, now)) else {
            return Ok(None);
        };
        let id = found.id.to_string();
        // Somebody may have taken it back in the meantime.
        let counted = self.change(ROW_BYTES, move |db| {
            let sql = format!("UPDATE standing SET uses = uses + 1 WHERE {HOLDS} AND id = ?2");
            Ok(db.prepare_cached(&sql)?.execute(params![now, id])?)
        })?;
        Ok((counted > 0).then_some(found))
    }
}

fn select(db: &Connection, tail: &str, values: &[&dyn ToSql]) -> Result<Vec<Standing>, Broken> {
    let mut select = db.prepare_cached(&format!("SELECT {COLUMNS} FROM standing {tail}"))?;
    let mut rows = select.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<Standing, Broken> {
    let text = |column: usize| row.get::<_, String>(column);
    let id = columns::uuid(&text(0)?)?;
    let (span, action) = (text(1)?, text(5)?);
    let revoked: Option<String> = row.get(15)?;
    let revoked = match revoked {
        Some(by) => Some((columns::user(&by)?, row.get(16)?)),
        None => None,
    };
    Ok(Standing {
        id,
        approval: id,
        span: Span::parse(&span).ok_or_else(|| unreadable("span", &span))?,
        session: columns::session(&text(2)?)?,
        user: columns::user(&text(3)?)?,
        agent: columns::agent(&text(4)?)?,
        action: EffectKind::parse(&action).ok_or_else(|| unreadable("action", &action))?,
        tool: text(6)?,
        scope: text(7)?,
        place: json("place", &text(8)?)?,
        grounds: json("grounds", &text(9)?)?,
        by: columns::user(&text(10)?)?,
        reason: text(11)?,
        created: row.get(12)?,
        expires: row.get(13)?,
        record: text(14)?,
        revoked,
        uses: row.get::<_, i64>(17)?.unsigned_abs(),
    })
}

fn json<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, Broken> {
    serde_json::from_str(text).map_err(|_| unreadable(what, &text))
}
