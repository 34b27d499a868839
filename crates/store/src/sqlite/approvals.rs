//! Approvals.

use aegx::Digest;
use evidence::Receipt;
use model::EffectKind;
use model::ipc::Uuid;
use monitor::approvals::{
    Answer, Approval, ApprovalError, ApprovalState, Approvals, ExactCall, Hindrance,
    LIFE_SECONDS_MAX, PENDING_PER_SESSION_MAX, Question, SETTLED_SECONDS_KEPT, SHOWN_BYTES_MAX,
    Word,
};
use monitor::standing::{Standing, Wanted};
use monitor::{Grounds, Shown, StateError};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::SqliteStore;
use super::columns::{self, unreadable};
use crate::error::Broken;

/// About what an approval costs beside its text.
const ROW_BYTES: usize = 4096;

const COLUMNS: &str = "id, session, user, agent, action, call, shown, created, expires, state, \
                       answer, answered_by, answered_at, reason, record, hindered";
/// The rows of a call.
const OF_CALL: &str = "session = ?1 AND action = ?2 AND call = ?3";
/// Those of them that a person has answered, and that count at `?4`.
const ANSWERED: &str = "WHERE session = ?1 AND action = ?2 AND call = ?3 \
                        AND state IN ('approved', 'denied') AND expires > ?4";

/// The newest that a person approved, also if something has come up since.
const APPROVED: &str = "WHERE session = ?1 AND action = ?2 AND call = ?3 AND answer = 'approve' \
                        AND state IN ('approved', 'expired') AND expires > ?4 ORDER BY n DESC LIMIT 1";

impl SqliteStore {
    /// Approvals whose call was stopped all the same since `since`, newest first, at most `limit`.
    ///
    /// # Errors
    /// If the store does not work.
    pub fn hindered(&self, since: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError> {
        let tail = "WHERE hindered IS NOT NULL AND answered_at > ?1 ORDER BY n DESC LIMIT ?2";
        Ok(self.look(|db| select(db, tail, params![since, limit]))?)
    }

    /// How many questions wait for an answer at `now`.
    ///
    /// # Errors
    /// If the store does not work.
    pub fn count_waiting(&self, now: i64) -> Result<u64, ApprovalError> {
        let sql = "SELECT count(*) FROM approvals WHERE state = 'pending' AND expires > ?1";
        Ok(self.look(|db| count(db, sql, &[&now]))?)
    }

    /// How many are kept, whatever became of them.
    ///
    /// # Errors
    /// If the store does not work.
    pub fn count_approvals(&self) -> Result<u64, ApprovalError> {
        Ok(self.look(|db| count(db, "SELECT count(*) FROM approvals", &[]))?)
    }
}

impl Approvals for SqliteStore {
    fn ask(&self, question: &Question) -> Result<Uuid, ApprovalError> {
        let shown = serde_json::to_string(&question.shown)
            .map_err(|error| Broken::new(format_args!("a question cannot be written: {error}")))?;
        let bytes = shown.len();
        if bytes > SHOWN_BYTES_MAX {
            return Err(ApprovalError::TooLong { bytes });
        }
        let seconds = question.expires.saturating_sub(question.created);
        if !(1..=LIFE_SECONDS_MAX).contains(&seconds) {
            return Err(ApprovalError::Life { seconds });
        }
        let question = question.clone();
        let id = columns::new_uuid()?;
        self.change(bytes + ROW_BYTES, move |db| ask(db, &question, &shown, id))?
    }

    fn answer(
        &self,
        id: Uuid,
        answer: &Answer,
        receipt: &Receipt,
    ) -> Result<Approval, ApprovalError> {
        let (answer, record) = (answer.clone(), receipt.id().to_string());
        self.change(ROW_BYTES, move |db| note_answer(db, id, answer, record))?
    }

    fn take(
        &self,
        call: &ExactCall,
        grounds: &Grounds,
        now: i64,
    ) -> Result<Option<Approval>, StateError> {
        // Nobody waits for the writer where there is nothing to take.
        let key = Key::of(call);
        let there = self.look(|db| find(db, &format!("{ANSWERED} LIMIT 1"), &key.with(&now)))?;
        if there.is_none() {
            return Ok(None);
        }
        let grounds = grounds.clone();
        Ok(self.change(ROW_BYTES, move |db| take(db, &key, &grounds, now))?)
    }

    fn withdraw(&self, call: &ExactCall, now: i64) -> Result<(), StateError> {
        let key = Key::of(call);
        self.change(ROW_BYTES, move |db| {
            let sql = format!(
                "UPDATE approvals SET state = 'expired', expires = min(expires, ?4)
                 WHERE {OF_CALL} AND state IN ('pending', 'approved')"
            );
            db.prepare_cached(&sql)?.execute(&key.with(&now)[..])?;
            Ok(())
        })?;
        Ok(())
    }

    fn approved(&self, call: &ExactCall, now: i64) -> Result<Option<Approval>, StateError> {
        let key = Key::of(call);
        Ok(self.look(|db| find(db, APPROVED, &key.with(&now)))?)
    }

    fn hinder(&self, id: Uuid, hindrance: &Hindrance) -> Result<(), StateError> {
        let text = serde_json::to_string(hindrance)
            .map_err(|error| Broken::new(format_args!("a note cannot be written: {error}")))?;
        self.change(ROW_BYTES + text.len(), move |db| {
            let mut update =
                db.prepare_cached("UPDATE approvals SET hindered = ?2 WHERE id = ?1")?;
            update.execute(params![id.to_string(), text])?;
            Ok(())
        })?;
        Ok(())
    }

    fn standing(&self, wanted: &Wanted, now: i64) -> Result<Option<Standing>, StateError> {
        self.standing_for(wanted, now)
    }

    fn approval(&self, id: Uuid, now: i64) -> Result<Approval, ApprovalError> {
        let found = self.look(|db| find(db, "WHERE id = ?1", params![id.to_string()]))?;
        let found = found.ok_or(ApprovalError::NotFound { id })?;
        Ok(as_of(found, now))
    }

    fn waiting(&self, now: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError> {
        let tail = "WHERE state = 'pending' AND expires > ?1 ORDER BY n LIMIT ?2";
        Ok(self.look(|db| select(db, tail, params![now, limit]))?)
    }

    fn approvals(&self, now: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError> {
        let found = self.look(|db| select(db, "ORDER BY n DESC LIMIT ?1", params![limit]))?;
        Ok(found.into_iter().map(|it| as_of(it, now)).collect())
    }
}

/// A call as rows name it.
struct Key {
    session: String,
    action: &'static str,
    digest: String,
}

impl Key {
    fn of(call: &ExactCall) -> Self {
        let session = call.session.as_str().to_owned();
        Self { session, action: call.action.as_str(), digest: call.digest.to_string() }
    }

    fn with<'a>(&'a self, last: &'a dyn ToSql) -> [&'a dyn ToSql; 4] {
        [&self.session, &self.action, &self.digest, last]
    }
}

fn ask(
    db: &Connection,
    question: &Question,
    shown: &str,
    id: Uuid,
) -> Result<Result<Uuid, ApprovalError>, Broken> {
    expire(db, question.created)?;
    let key = Key::of(&question.call);
    let waits = format!("WHERE {OF_CALL} AND state = ?4");
    if let Some(waits) = find(db, &waits, &key.with(&ApprovalState::Pending.as_str()))? {
        if waits.question.shown.grounds == question.shown.grounds {
            return Ok(Ok(waits.id));
        }
        // Whoever is looking at it has not seen what is new.
        settle(db, waits.id, ApprovalState::Expired)?;
    }
    let mut count = db.prepare_cached(
        "SELECT count(*) FROM approvals WHERE session = ?1 AND state = 'pending'",
    )?;
    let waiting: i64 = count.query_row([&key.session], |row| row.get(0))?;
    if waiting >= PENDING_PER_SESSION_MAX {
        return Ok(Err(ApprovalError::TooMany { session: question.call.session.clone() }));
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO approvals
             (id, session, user, agent, action, call, shown, created, expires, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'pending')",
    )?;
    insert.execute(params![
        id.to_string(),
        key.session,
        question.user.as_str(),
        question.agent.as_str(),
        key.action,
        key.digest,
        shown,
        question.created,
        question.expires,
    ])?;
    Ok(Ok(id))
}

/// The newest answer counts, and a no is not used up.
fn take(
    db: &Connection,
    key: &Key,
    grounds: &Grounds,
    now: i64,
) -> Result<Option<Approval>, Broken> {
    expire(db, now)?;
    let newest = format!("{ANSWERED} ORDER BY n DESC LIMIT 1");
    let Some(mut found) = find(db, &newest, &key.with(&now))? else { return Ok(None) };
    if found.state == ApprovalState::Denied {
        return Ok(Some(found));
    }
    let was_shown = grounds.are_within(&found.question.shown.grounds);
    found.state = if was_shown { ApprovalState::Used } else { ApprovalState::Expired };
    settle(db, found.id, found.state)?;
    Ok(was_shown.then_some(found))
}

fn settle(db: &Connection, id: Uuid, state: ApprovalState) -> Result<(), Broken> {
    let mut update = db.prepare_cached("UPDATE approvals SET state = ?2 WHERE id = ?1")?;
    update.execute(params![id.to_string(), state.as_str()])?;
    Ok(())
}

fn note_answer(
    db: &Connection,
    id: Uuid,
    answer: Answer,
    record: String,
) -> Result<Result<Approval, ApprovalError>, Broken> {
    expire(db, answer.at)?;
    let Some(mut found) = find(db, "WHERE id = ?1", params![id.to_string()])? else {
        return Ok(Err(ApprovalError::NotFound { id }));
    };
    if found.state != ApprovalState::Pending {
        return Ok(Err(ApprovalError::Settled { id, state: found.state }));
    }
    found.state = match answer.word {
        Word::Approve => ApprovalState::Approved,
        Word::Deny => ApprovalState::Denied,
    };
    found.question.expires = answer.expires();
    let mut update = db.prepare_cached(
        "UPDATE approvals SET state = ?2, expires = ?3, answer = ?4, answered_by = ?5,
             answered_at = ?6, reason = ?7, record = ?8 WHERE id = ?1",
    )?;
    update.execute(params![
        id.to_string(),
        found.state.as_str(),
        found.question.expires,
        answer.word.as_str(),
        answer.by.as_str(),
        answer.at,
        answer.reason,
        record,
    ])?;
    found.answered = Some((answer, record));
    Ok(Ok(found))
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

fn count(db: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<u64, Broken> {
    let rows: i64 = db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    Ok(rows.unsigned_abs())
}

fn select(db: &Connection, tail: &str, values: &[&dyn ToSql]) -> Result<Vec<Approval>, Broken> {
    let mut select = db.prepare_cached(&format!("SELECT {COLUMNS} FROM approvals {tail}"))?;
    let mut rows = select.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<Approval, Broken> {
    let text = |column: usize| row.get::<_, String>(column);
    let (action, call, shown, state) = (text(4)?, text(5)?, text(6)?, text(9)?);
    Ok(Approval {
        id: columns::uuid(&text(0)?)?,
        question: Question {
            call: ExactCall {
                session: columns::session(&text(1)?)?,
                action: EffectKind::parse(&action).ok_or_else(|| unreadable("action", &action))?,
                digest: Digest::from_hex(call.as_bytes())
                    .ok_or_else(|| unreadable("hash", &call))?,
            },
            user: columns::user(&text(2)?)?,
            agent: columns::agent(&text(3)?)?,
            shown: serde_json::from_str::<Shown>(&shown)
                .map_err(|_| unreadable("question", &shown))?,
            created: row.get(7)?,
            expires: row.get(8)?,
        },
        state: ApprovalState::parse(&state).ok_or_else(|| unreadable("state", &state))?,
        answered: answered(row)?,
        hindered: hindered(row)?,
    })
}

fn hindered(row: &Row<'_>) -> Result<Option<Hindrance>, Broken> {
    let Some(text) = row.get::<_, Option<String>>(15)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|_| unreadable("hindrance", &text))
}

fn answered(row: &Row<'_>) -> Result<Option<(Answer, String)>, Broken> {
    let Some(word) = row.get::<_, Option<String>>(10)? else { return Ok(None) };
    let answer = Answer {
        word: Word::parse(&word).ok_or_else(|| unreadable("answer", &word))?,
        by: columns::user(&row.get::<_, String>(11)?)?,
        at: row.get(12)?,
        reason: row.get(13)?,
    };
    Ok(Some((answer, row.get(14)?)))
}
