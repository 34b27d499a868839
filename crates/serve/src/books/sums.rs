//! What was spent, summed up: by the windows of a budget, by users, and by agents.

use policy::access::Limits;
use rusqlite::{Connection, Row, params};

use super::spending::{DAY, MONTH, Spent, Totals};
use super::{Books, BooksError};

impl Books {
    /// What the user has spent at `now`.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn totals(&self, user: &str, session: &str, now: i64) -> Result<Totals, BooksError> {
        totals(&self.lock(), user, session, now)
    }

    /// What a user has spent of each limit of a budget, in its unit: its name, the limit, and what counts against it. Of the limit
    /// for one session it is not known which is meant.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn spent_of(
        &self,
        user: &str,
        limits: &Limits,
        now: i64,
    ) -> Result<Vec<(&'static str, f64, f64)>, BooksError> {
        let totals = self.totals(user, "", now)?;
        let all = windows(limits, &totals).into_iter().filter(|it| it.0 != "session");
        Ok(all.map(|(name, limit, spent)| (name, limit, spent.within(limits.unit))).collect())
    }

    /// What everybody has spent with an agent in the last 24 hours, and in the last 30 days.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn spent_with(&self, agent: &str, now: i64) -> Result<(Spent, Spent), BooksError> {
        let sql =
            "SELECT total(tokens) FILTER (WHERE at > ?2), total(micro_usd) FILTER (WHERE at > ?2),
            total(tokens), total(micro_usd) FROM spending WHERE agent = ?1 AND at > ?3";
        let (day, month) = (now.saturating_sub(DAY), now.saturating_sub(MONTH));
        let connection = self.lock();
        Ok(connection.query_row(sql, params![agent, day, month], |row| {
            let spent = |at: usize| {
                Ok::<_, rusqlite::Error>(Spent {
                    tokens: sum(row, at)?,
                    micro_usd: sum(row, at + 1)?,
                })
            };
            Ok((spent(0)?, spent(2)?))
        })?)
    }

    /// Everybody's spending of the last 30 days.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn summary(&self, now: i64) -> Result<Vec<(String, Spent)>, BooksError> {
        let sql = "SELECT user, total(tokens), total(micro_usd) FROM spending WHERE at > ?1 GROUP BY user ORDER BY user";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([now.saturating_sub(MONTH)], |row| {
            Ok((row.get(0)?, Spent { tokens: sum(row, 1)?, micro_usd: sum(row, 2)? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The windows of a budget with their limits, and what counts against each.
pub(crate) fn windows(limits: &Limits, totals: &Totals) -> [(&'static str, f64, Spent); 3] {
    [
        ("session", limits.session, totals.session),
        ("daily", limits.daily, totals.daily),
        ("monthly", limits.monthly, totals.monthly),
    ]
}

pub(super) fn totals(
    connection: &Connection,
    user: &str,
    session: &str,
    now: i64,
) -> Result<Totals, BooksError> {
    // Each half goes by an index of its own: what was spent long ago is not read.
    let sql = "SELECT * FROM
        (SELECT total(tokens), total(micro_usd)
            FROM spending WHERE session = ?2 AND user = ?1 AND no_session = 0),
        (SELECT total(tokens) FILTER (WHERE at > ?3 AND no_daily = 0),
            total(micro_usd) FILTER (WHERE at > ?3 AND no_daily = 0),
            total(tokens) FILTER (WHERE no_monthly = 0),
            total(micro_usd) FILTER (WHERE no_monthly = 0)
            FROM spending WHERE user = ?1 AND at > ?4)";
    let mut statement = connection.prepare_cached(sql)?;
    let (day, month) = (now.saturating_sub(DAY), now.saturating_sub(MONTH));
    let totals = statement.query_row(params![user, session, day, month], |row| {
        let spent = |at: usize| {
            Ok::<_, rusqlite::Error>(Spent { tokens: sum(row, at)?, micro_usd: sum(row, at + 1)? })
        };
        Ok(Totals { session: spent(0)?, daily: spent(2)?, monthly: spent(4)? })
    })?;
    Ok(totals)
}

/// The sum of amounts, as a float: exact up to 2^53, near beyond. One of whole numbers would fail where it does not fit, and
/// the books would not answer until what was told of so much has left the window.
fn sum(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, f64>(at)
        .map(|it| if it.is_sign_negative() && it != 0.0 { u64::MAX } else { it.ceil() as u64 })
}
