//! Questions to the index. What is shown comes from the segments, not from the index.

use std::collections::BTreeMap;

use aegx::{Digest, Record, RecordType, timestamp};
use model::{AgentId, Kind, SessionId, Taint};
use rusqlite::types::Value as Sql;
use serde_json::Value;

use super::catch_up::int;
use super::{Index, IndexError};
use crate::reader::{ReadError, claimed_id};

/// Which records are asked for. Everything that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of this type.
    pub record_type: Option<RecordType>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Not before, in seconds since 1970.
    pub since: Option<i64>,
    /// Before, in seconds since 1970.
    pub until: Option<i64>,
    /// With all of this taint.
    pub taint: Option<Taint>,
    /// With this id.
    pub id: Option<Digest>,
    /// With this record among its parents.
    pub parent: Option<Digest>,
    /// At most so many, the newest.
    pub limit: Option<u64>,
}

/// Counts over everything in the index.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Records by type.
    pub by_type: BTreeMap<String, u64>,
    /// Records by principal.
    pub by_principal: BTreeMap<String, u64>,
    /// Sessions that have records.
    pub sessions: u64,
    /// Records with any taint.
    pub tainted: u64,
}

impl Filter {
    /// Does this record pass? For records that are in no index.
    #[must_use]
    pub fn matches(&self, record: &Record, id: &Digest) -> bool {
        let meta = |key: &str| record.meta.get(key).and_then(Value::as_str);
        let same = |key: &str, wanted: Option<&str>| wanted.is_none() || meta(key) == wanted;
        let ts = record.ts().and_then(timestamp::to_unix).unwrap_or(0);
        let has = |name: &str| record.taint.iter().any(|it| it == name);
        same("session", self.session.as_ref().map(SessionId::as_str))
            && same("agent", self.agent.as_ref().map(AgentId::as_str))
            && same("kind", self.kind.as_ref().map(Kind::as_str))
            && self.record_type.is_none_or(|it| it == record.record_type)
            && self.since.is_none_or(|it| ts >= it)
            && self.until.is_none_or(|it| ts < it)
            && self.taint.is_none_or(|it| it.iter_names().all(has))
            && self.id.is_none_or(|it| it == *id)
            && self.parent.is_none_or(|it| record.parents.contains(&it.to_string()))
    }
}

/// A record that was found.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its index.
    pub idx: u64,
    /// Its id.
    pub id: Digest,
    /// Its stored line, read from the journal.
    pub line: Vec<u8>,
}

impl Index {
    /// Shows the records that pass the filter to `see`, oldest first, until it answers `false`.
    ///
    /// # Errors
    /// If a record is not where the index says. Then rebuild it.
    pub fn query(
        &self,
        filter: &Filter,
        see: &mut dyn FnMut(Row) -> bool,
    ) -> Result<(), IndexError> {
        let (sql, values) = to_sql(filter);
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let number = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
            let (idx, segment, offset, bytes) = (number(0)?, number(1)?, number(2)?, number(3)?);
            let id: [u8; 32] = row.get(4)?;
            let id = Digest::from_bytes(id);
            let line = match self.reader.line_at(segment, offset, bytes) {
                // Retention got there first.
                Err(ReadError::Gone { .. }) => continue,
                line => line?,
            };
            if claimed_id(&line) != Some(id) {
                return Err(IndexError::Wrong { idx });
            }
            // The index only proposes. What it says of a record lets none out that does not pass.
            let record: Record = serde_json::from_slice(&line)
                .map_err(|error| IndexError::Record { idx, why: error.to_string() })?;
            if !filter.matches(&record, &id) {
                return Err(IndexError::Wrong { idx });
            }
            if !see(Row { idx, id, line }) {
                break;
            }
        }
        Ok(())
    }

    /// How many records pass the filter.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn count(&self, filter: &Filter) -> Result<u64, IndexError> {
        let (sql, values) = to_sql(filter);
        let sql = format!("SELECT count(*) FROM ({sql})");
        let count: i64 =
            self.db.query_row(&sql, rusqlite::params_from_iter(values), |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Counts over everything.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn groups(&self) -> Result<Groups, IndexError> {
        let number = |sql: &str| -> rusqlite::Result<u64> {
            self.db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
        };
        let counts = |sql: &str| -> rusqlite::Result<BTreeMap<String, u64>> {
            let mut statement = self.db.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
            })?;
            rows.collect()
        };
        Ok(Groups {
            by_type: counts("SELECT type, count(*) FROM records GROUP BY type")?,
            by_principal: counts("SELECT principal, count(*) FROM records GROUP BY principal")?,
            sessions: number("SELECT count(DISTINCT session) FROM records")?,
            tainted: number("SELECT count(*) FROM records WHERE taint <> 0")?,
        })
    }
}

/// Every value is bound, never written into the text.
fn to_sql(filter: &Filter) -> (String, Vec<Sql>) {
    let mut conditions: Vec<&str> = Vec::new();
    let mut values = Vec::new();
    let mut add = |condition, value: Option<Sql>| {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(value);
        }
    };
    let text = |it: &str| Sql::Text(it.to_owned());
    let bytes = |it: &Digest| Sql::Blob(it.as_bytes().to_vec());
    add("session = ?", filter.session.as_ref().map(|it| text(it.as_str())));
    add("agent = ?", filter.agent.as_ref().map(|it| text(it.as_str())));
    add("type = ?", filter.record_type.map(|it| text(it.as_str())));
    add("kind = ?", filter.kind.as_ref().map(|it| text(it.as_str())));
    add("ts >= ?", filter.since.map(Sql::Integer));
    add("ts < ?", filter.until.map(Sql::Integer));
    let taint = filter.taint.map(|it| Sql::Integer(i64::from(it.bits())));
    add("(taint <> 0 AND taint & ? = ?)", taint.clone());
    add("", taint);
    add("id = ?", filter.id.as_ref().map(bytes));
    add("idx IN (SELECT child FROM parents WHERE parent = ?)", filter.parent.as_ref().map(bytes));
    conditions.retain(|it| !it.is_empty());

    let mut sql = "SELECT idx, segment, offset, bytes, id FROM records".to_owned();
    if !conditions.is_empty() {
        sql.push_str(" WHERE ");
        sql.push_str(&conditions.join(" AND "));
    }
    match filter.limit {
        None => sql.push_str(" ORDER BY idx"),
        Some(limit) => {
            sql = format!("SELECT * FROM ({sql} ORDER BY idx DESC LIMIT ?) ORDER BY idx");
            values.push(Sql::Integer(int(limit)));
        }
    }
    (sql, values)
}
