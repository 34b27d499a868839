//! What users spend: set aside before a turn, settled after it.
//!
//! INVARIANT (NeverUndercounted): a turn begins only after a row for it is durable, and that row counts from then on.
//! Settling replaces what was set aside by what was used; a server that dies in between leaves it as it was set aside.

use llm::Usage;
use policy::access::{Budget, Limits, Prices, Unit, User};
use rusqlite::{Connection, TransactionBehavior, params};
use serde::Deserialize;

use super::{Books, BooksError, amount};

/// Who spends, on what.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// The user, with the budget of the users file.
    pub user: &'a User,
    /// The agent.
    pub agent: &'a str,
    /// The session.
    pub session: &'a str,
    /// What tokens cost, where it is known.
    pub prices: Option<&'a Prices>,
}

/// Something that was set aside.
#[derive(Debug)]
#[must_use = "what was set aside stays spent until it is settled"]
pub struct Reservation {
    id: i64,
}

/// Amounts of one turn or of many, in tokens that count and in millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

/// What was spent, by the windows of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// In the session.
    pub session: Spent,
    /// In the last 24 hours.
    pub daily: Spent,
    /// In the last 30 days.
    pub monthly: Spent,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Exceeded {
    /// Which.
    pub budget: &'static str,
    /// The limit, in the unit of the budget.
    pub limit: f64,
    /// What counts against it.
    pub used: f64,
    /// When something of it comes back, in seconds since 1970.
    pub resets_at: Option<i64>,
}

/// Which window an administrator clears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "named as in `Totals`")]
pub enum Scope {
    Session,
    Daily,
    Monthly,
    All,
}

/// A day, in seconds.
const DAY: i64 = 86_400;
/// The windows of a budget, in seconds.
const MONTH: i64 = 30 * DAY;
const MICRO: f64 = 1_000_000.0;

impl Spent {
    /// What so many tokens are. Those of the cache count in full unless it is known what they cost.
    #[must_use]
    pub fn of(usage: &Usage, prices: Option<&Prices>) -> Self {
        let micro_usd = |prices: &Prices| {
            // A dollar for a million tokens is a millionth for one.
            usage.input_tokens as f64 * prices.input
                + usage.output_tokens as f64 * prices.output
                + usage.cache_read_tokens as f64 * prices.cache_read
                + usage.cache_creation_tokens as f64 * prices.cache_creation
        };
        let cached = |count: u64, price: fn(&Prices) -> f64| match prices {
            Some(prices) if prices.input > 0.0 => {
                (count as f64 * (price(prices) / prices.input)).ceil() as u64
            }
            Some(_) | None => count,
        };
        let tokens = usage
            .input_tokens
            .saturating_add(usage.output_tokens)
            .saturating_add(cached(usage.cache_read_tokens, |it| it.cache_read))
            .saturating_add(cached(usage.cache_creation_tokens, |it| it.cache_creation));
        Self { tokens, micro_usd: prices.map_or(0, |it| micro_usd(it).ceil() as u64) }
    }

    /// In a unit.
    #[must_use]
    pub fn within(self, unit: Unit) -> f64 {
        match unit {
            Unit::Tokens => self.tokens as f64,
            Unit::Usd => self.micro_usd as f64 / MICRO,
        }
    }
}

impl Books {
    /// Sets aside what a turn of about `tokens` may spend, or as much as is left. Nothing is left: none.
    ///
    /// # Errors
    /// If it may not be durable: then the turn must not begin.
    pub fn reserve(
        &self,
        account: &Account<'_>,
        tokens: u64,
        now: i64,
    ) -> Result<Result<Reservation, Exceeded>, BooksError> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let estimate = Usage { output_tokens: tokens, ..Usage::default() };
        let mut aside = Spent::of(&estimate, account.prices);
        if let Budget::Limited(limits) = &account.user.budget {
            let user = account.user.name.as_str();
            let totals = totals(&transaction, user, account.session, now)?;
            for (budget, limit, spent) in windows(limits, &totals) {
                let (used, left) = (spent.within(limits.unit), limit - spent.within(limits.unit));
                if left <= 0.0 {
                    let resets_at = resets_at(&transaction, user, budget, now)?;
                    return Ok(Err(Exceeded { budget, limit, used, resets_at }));
                }
                match limits.unit {
                    Unit::Tokens => aside.tokens = aside.tokens.min(left.ceil() as u64),
                    Unit::Usd => {
                        aside.micro_usd = aside.micro_usd.min((left * MICRO).ceil() as u64);
                    }
                }
            }
        }
        let sql = "INSERT INTO spending (user, agent, session, at, settled, tokens, micro_usd, input, output,
            cache_read, cache_creation, no_session, no_daily, no_monthly)
            VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, 0, 0, 0, 0, 0, 0, 0)";
        let user = account.user.name.as_str();
        transaction.execute(
            sql,
            params![
                user,
                account.agent,
                account.session,
                now,
                whole(aside.tokens),
                whole(aside.micro_usd)
            ],
        )?;
        let id = transaction.last_insert_rowid();
        transaction.commit()?;
        Ok(Ok(Reservation { id }))
    }

    /// Puts what was used in the place of what was set aside.
    ///
    /// # Errors
    /// If it may not be durable: then what was set aside stays spent.
    pub fn settle(
        &self,
        reservation: Reservation,
        usage: &Usage,
        prices: Option<&Prices>,
    ) -> Result<Spent, BooksError> {
        self.settle_as("?2", "?3", reservation, usage, prices)
    }

    /// The same where more may have been used: what was set aside stays spent, if that is more.
    ///
    /// # Errors
    /// As [`Books::settle`].
    pub fn settle_at_least(
        &self,
        reservation: Reservation,
        usage: &Usage,
        prices: Option<&Prices>,
    ) -> Result<Spent, BooksError> {
        self.settle_as("max(tokens, ?2)", "max(micro_usd, ?3)", reservation, usage, prices)
    }

    fn settle_as(
        &self,
        tokens: &'static str,
        micro_usd: &'static str,
        reservation: Reservation,
        usage: &Usage,
        prices: Option<&Prices>,
    ) -> Result<Spent, BooksError> {
        let spent = Spent::of(usage, prices);
        let sql = format!(
            "UPDATE spending SET settled = 1, tokens = {tokens}, micro_usd = {micro_usd}, input = ?4, output = ?5,
            cache_read = ?6, cache_creation = ?7 WHERE id = ?1"
        );
        self.lock().execute(
            &sql,
            params![
                reservation.id,
                whole(spent.tokens),
                whole(spent.micro_usd),
                whole(usage.input_tokens),
                whole(usage.output_tokens),
                whole(usage.cache_read_tokens),
                whole(usage.cache_creation_tokens),
            ],
        )?;
        Ok(spent)
    }

    /// What the user has spent at `now`.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn totals(&self, user: &str, session: &str, now: i64) -> Result<Totals, BooksError> {
        totals(&self.lock(), user, session, now)
    }

    /// Everybody's spending of the last 30 days.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn summary(&self, now: i64) -> Result<Vec<(String, Spent)>, BooksError> {
        let sql = "SELECT user, sum(tokens), sum(micro_usd) FROM spending WHERE at > ?1 GROUP BY user ORDER BY user";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([now.saturating_sub(MONTH)], |row| {
            Ok((row.get(0)?, Spent { tokens: amount(row, 1)?, micro_usd: amount(row, 2)? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Lets what the user has spent count no more. Answers how many rows that were.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn reset(&self, user: &str, scope: Scope) -> Result<usize, BooksError> {
        let columns = match scope {
            Scope::Session => "no_session = 1",
            Scope::Daily => "no_daily = 1",
            Scope::Monthly => "no_monthly = 1",
            Scope::All => "no_session = 1, no_daily = 1, no_monthly = 1",
        };
        // What is set aside for a turn that runs goes on counting.
        let sql = format!("UPDATE spending SET {columns} WHERE user = ?1 AND settled = 1");
        Ok(self.lock().execute(&sql, [user])?)
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

fn totals(
    connection: &Connection,
    user: &str,
    session: &str,
    now: i64,
) -> Result<Totals, BooksError> {
    let sql = "SELECT
        coalesce(sum(tokens) FILTER (WHERE session = ?2 AND no_session = 0), 0),
        coalesce(sum(micro_usd) FILTER (WHERE session = ?2 AND no_session = 0), 0),
        coalesce(sum(tokens) FILTER (WHERE at > ?3 AND no_daily = 0), 0),
        coalesce(sum(micro_usd) FILTER (WHERE at > ?3 AND no_daily = 0), 0),
        coalesce(sum(tokens) FILTER (WHERE at > ?4 AND no_monthly = 0), 0),
        coalesce(sum(micro_usd) FILTER (WHERE at > ?4 AND no_monthly = 0), 0)
        FROM spending WHERE user = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let (day, month) = (now.saturating_sub(DAY), now.saturating_sub(MONTH));
    let totals = statement.query_row(params![user, session, day, month], |row| {
        let spent = |at: usize| {
            Ok::<_, rusqlite::Error>(Spent {
                tokens: amount(row, at)?,
                micro_usd: amount(row, at + 1)?,
            })
        };
        Ok(Totals { session: spent(0)?, daily: spent(2)?, monthly: spent(4)? })
    })?;
    Ok(totals)
}

/// When the oldest row of a window leaves it. A session has no window.
fn resets_at(
    connection: &Connection,
    user: &str,
    budget: &str,
    now: i64,
) -> Result<Option<i64>, BooksError> {
    let (window, column) = match budget {
        "daily" => (DAY, "no_daily"),
        "monthly" => (MONTH, "no_monthly"),
        _ => return Ok(None),
    };
    let sql = format!("SELECT min(at) FROM spending WHERE user = ?1 AND at > ?2 AND {column} = 0");
    let since = now.saturating_sub(window);
    let oldest: Option<i64> = connection.query_row(&sql, params![user, since], |row| row.get(0))?;
    Ok(oldest.map(|it| it.saturating_add(window)))
}

/// As the database keeps it.
fn whole(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
