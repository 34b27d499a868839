//! Approvals.

use aegx::Digest;
use model::ipc::Uuid;
use model::{EffectKind, SessionId, UserId};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::SqliteStore;
use super::columns::{self, unreadable};
use crate::approvals::{
    Approval, ApprovalError, ApprovalState, Approvals, LIFE_SECONDS_MAX, PENDING_PER_SESSION_MAX,
    Question, SETTLED_SECONDS_KEPT, SHOWN_BYTES_MAX, Verdict,
};
use crate::error::Broken;

/// About what an approval costs beside its text.
const ROW_BYTES: usize = 1024;

const COLUMNS: &str =
    "id, session, user, action, call, shown, created, expires, state, answered_by";

impl Approvals for SqliteStore {
    fn ask(&self, question: &Question) -> Result<Uuid, ApprovalError> {
        let bytes = question.shown.len();
        if bytes > SHOWN_BYTES_MAX {
            return Err(ApprovalError::TooLong { bytes });
        }
        let seconds = question.expires.saturating_sub(question.created);
        if !(1..=LIFE_SECONDS_MAX).contains(&seconds) {
            return Err(ApprovalError::Life { seconds });
        }
        let question = question.clone();
        let id = columns::new_uuid()?;
        self.change(bytes + ROW_BYTES, move |db| ask(db, &question, id))?
    }

    fn answer(
        &self,
        id: Uuid,
        verdict: Verdict,
        by: &UserId,
        now: i64,
    ) -> Result<(), ApprovalError> {
        let by = by.clone();
        self.change(ROW_BYTES, move |db| {
            expire(db, now)?;
            let Some(found) = find(db, "WHERE id = ?1", params![id.to_string()])? else {
                return Ok(Err(ApprovalError::NotFound { id }));
            };
            if found.state != ApprovalState::Pending {
                return Ok(Err(ApprovalError::Settled { id, state: found.state }));
            }
            let state = match verdict {
                Verdict::Approve => ApprovalState::Approved,
                Verdict::Deny => ApprovalState::Denied,
            };
            let mut update = db.prepare_cached(
                "UPDATE approvals SET state = ?2, answered_by = ?3 WHERE id = ?1",
            )?;
            update.execute(params![id.to_string(), state.as_str(), by.as_str()])?;
            Ok(Ok(()))
        })?
    }

    fn take(
        &self,
        session: &SessionId,
        call: &Digest,
        now: i64,
    ) -> Result<Option<Approval>, ApprovalError> {
        let (session, call) = (session.clone(), *call);
        let taken = self.change(ROW_BYTES, move |db| {
            expire(db, now)?;
            let sql = format!(
                "UPDATE approvals SET state = 'used'
                 WHERE n = (SELECT n FROM approvals WHERE session = ?1 AND call = ?2
                            AND state = 'approved' ORDER BY n LIMIT 1)
                 RETURNING {COLUMNS}"
            );
            let mut update = db.prepare_cached(&sql)?;
            let key = params![session.as_str(), call.to_string()];
            update.query_row(key, |row| Ok(read(row))).optional()?.transpose()
        })?;
        Ok(taken)
    }

    fn approval(&self, id: Uuid, now: i64) -> Result<Approval, ApprovalError> {
        let found = self.look(|db| find(db, "WHERE id = ?1", params![id.to_string()]))?;
        let found = found.ok_or(ApprovalError::NotFound { id })?;
        Ok(as_of(found, now))
    }

    fn waiting(&self, now: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError> {
        let found = self.look(|db| {
            let sql = format!(
                "SELECT {COLUMNS} FROM approvals WHERE state = 'pending' AND expires > ?1
                 ORDER BY n LIMIT ?2"
            );
            let mut select = db.prepare_cached(&sql)?;
            let mut rows = select.query(params![now, limit])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })?;
        Ok(found)
    }
}

fn ask(
    db: &Connection,
    question: &Question,
    id: Uuid,
) -> Result<Result<Uuid, ApprovalError>, Broken> {
    expire(db, question.created)?;
    let session = question.session.as_str();
    let call = question.call.to_string();
    let tail = "WHERE session = ?1 AND call = ?2 AND state = 'pending'";
    if let Some(found) = find(db, tail, params![session, call])? {
        return Ok(Ok(found.id));
    }
    let mut count = db.prepare_cached(
        "SELECT count(*) FROM approvals WHERE session = ?1 AND state = 'pending'",
    )?;
    let waiting: i64 = count.query_row([session], |row| row.get(0))?;
    if waiting >= PENDING_PER_SESSION_MAX {
        return Ok(Err(ApprovalError::TooMany { session: question.session.clone() }));
    }
    let sql = format!(
        "INSERT INTO approvals ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'pending', NULL)"
    );
    db.prepare_cached(&sql)?.execute(params![
        id.to_string(),
        session,
        question.user.as_str(),
        question.action.as_str(),
        call,
        question.shown,
        question.created,
        question.expires,
    ])?;
    Ok(Ok(id))
}

/// Settles what ran out, for good: a clock that is set back brings nothing back. Forgets what was
/// settled long ago.
fn expire(db: &Connection, now: i64) -> Result<(), Broken> {
    let mut expire = db.prepare_cached(
        "UPDATE approvals SET state = 'expired'
         WHERE state IN ('pending', 'approved') AND expires <= ?1",
    )?;
    expire.execute([now])?;
    let mut delete = db.prepare_cached(
        "DELETE FROM approvals WHERE state IN ('denied', 'expired', 'used') AND expires < ?1",
    )?;
    delete.execute([now.saturating_sub(SETTLED_SECONDS_KEPT)])?;
    Ok(())
}

/// What ran out by `now` counts as expired even before somebody settles it.
fn as_of(found: Approval, now: i64) -> Approval {
    let open = matches!(found.state, ApprovalState::Pending | ApprovalState::Approved);
    let over = open && found.question.expires <= now;
    Approval { state: if over { ApprovalState::Expired } else { found.state }, ..found }
}

fn find(db: &Connection, tail: &str, values: &[&dyn ToSql]) -> Result<Option<Approval>, Broken> {
    let sql = format!("SELECT {COLUMNS} FROM approvals {tail}");
    let mut select = db.prepare_cached(&sql)?;
    select.query_row(values, |row| Ok(read(row))).optional()?.transpose()
}

fn read(row: &Row<'_>) -> Result<Approval, Broken> {
    let text = |column: usize| row.get::<_, String>(column);
    let (action, call, state) = (text(3)?, text(4)?, text(8)?);
    let answered_by: Option<String> = row.get(9)?;
    Ok(Approval {
        id: columns::uuid(&text(0)?)?,
        question: Question {
            session: columns::session(&text(1)?)?,
            user: columns::user(&text(2)?)?,
            action: EffectKind::parse(&action).ok_or_else(|| unreadable("action", &action))?,
            call: Digest::from_hex(call.as_bytes()).ok_or_else(|| unreadable("hash", &call))?,
            shown: text(5)?,
            created: row.get(6)?,
            expires: row.get(7)?,
        },
        state: ApprovalState::parse(&state).ok_or_else(|| unreadable("state", &state))?,
        answered_by: answered_by.as_deref().map(columns::user).transpose()?,
    })
}
