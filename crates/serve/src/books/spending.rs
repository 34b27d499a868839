//! What users spend: set aside before each question to a model, settled after it.
//!
//! INVARIANT (NeverUndercounted): a question is asked only after a row for it is durable, and that row counts from then on.
//! Settling replaces what was set aside by what was used; a server that dies in between leaves it as it was set aside.
//! Settling needs not be durable by itself: what is lost of it stays spent.

use agent::{Aside, Estimate};
use llm::{Price, Usage};
use policy::access::{Budget, Unit, User};
use rusqlite::{Connection, TransactionBehavior, params, params_from_iter};
use serde::Deserialize;

use super::sums::{totals, windows};
use super::{Books, BooksError};
use crate::limits::ANSWER_TOKENS_MIN;

/// Who spends, on what.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// The user, with the budget of the users file.
    pub user: &'a User,
    /// The agent.
    pub agent: &'a str,
    /// The session.
    pub session: &'a str,
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
pub(super) const DAY: i64 = 86_400;
/// The windows of a budget, in seconds.
pub(super) const MONTH: i64 = 30 * DAY;
const MICRO: f64 = 1_000_000.0;
/// The greatest amount of one row: a provider may say any number.
const AMOUNT_MAX: i64 = 1 << 61;
/// Tokens that a price is for.
const TOKENS_PER_PRICE: u128 = 1_000_000;

impl Spent {
    /// What so many tokens are. Those of the cache count in full unless it is known what they cost.
    #[must_use]
    pub fn of(usage: &Usage, price: Option<&Price>) -> Self {
        let cached = |count: u64, cost: fn(&Price) -> u64| match price {
            Some(price) if price.input > 0 => {
                let cost = u128::from(count).saturating_mul(u128::from(cost(price)));
                u64::try_from(cost.div_ceil(u128::from(price.input))).unwrap_or(u64::MAX)
            }
            Some(_) | None => count,
        };
        let tokens = usage
            .input_tokens
            .saturating_add(usage.output_tokens)
            .saturating_add(cached(usage.cache_read_tokens, |it| it.cache_read))
            .saturating_add(cached(usage.cache_creation_tokens, |it| it.cache_write));
        Self { tokens, micro_usd: price.map_or(0, |it| it.cost(usage)) }
    }

    /// What a question of so many tokens comes to at most: what is read may also be put into the cache, which may be dearer.
    fn at_most(input: u64, output: u64, price: Option<&Price>) -> Self {
        let fresh = Usage { input_tokens: input, output_tokens: output, ..Usage::default() };
        let kept =
            Usage { cache_creation_tokens: input, output_tokens: output, ..Usage::default() };
        let (fresh, kept) = (Self::of(&fresh, price), Self::of(&kept, price));
        Self {
            tokens: fresh.tokens.max(kept.tokens),
            micro_usd: fresh.micro_usd.max(kept.micro_usd),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
        }
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
    /// Is something left of the budget?
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn left(
        &self,
        account: &Account<'_>,
        now: i64,
    ) -> Result<Result<(), Exceeded>, BooksError> {
        let Budget::Limited(limits) = &account.user.budget else { return Ok(Ok(())) };
        let (connection, user) = (self.lock(), account.user.name.as_str());
        let totals = totals(&connection, user, account.session, now)?;
        for (budget, limit, spent) in windows(limits, &totals) {
            let used = spent.within(limits.unit);
            if used >= limit {
                let resets_at = resets_at(&connection, user, budget, now)?;
                return Ok(Err(Exceeded { budget, limit, used, resets_at }));
            }
        }
        Ok(Ok(()))
    }

    /// Sets aside what a question may use at most, with an answer that is as long as is wanted, or as what is left is enough
    /// for. If that would be no answer: none.
    ///
    /// # Errors
    /// If it may not be durable: then nothing may be asked.
    pub fn reserve(
        &self,
        account: &Account<'_>,
        most: &Estimate,
        now: i64,
    ) -> Result<Result<Aside, Exceeded>, BooksError> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (user, price) = (account.user.name.as_str(), most.price.as_ref());
        let mut output = most.output_tokens;
        let mut output_tokens = None;
        if let Budget::Limited(limits) = &account.user.budget {
            let totals = totals(&transaction, user, account.session, now)?;
            for (budget, limit, spent) in windows(limits, &totals) {
                let used = spent.within(limits.unit);
                let enough_for = answer_within(limits.unit, limit - used, most);
                if enough_for < most.output_tokens.min(ANSWER_TOKENS_MIN) {
                    let resets_at = resets_at(&transaction, user, budget, now)?;
                    return Ok(Err(Exceeded { budget, limit, used, resets_at }));
                }
                output = output.min(enough_for);
            }
            output_tokens = Some(output);
        }
        let aside = Spent::at_most(most.input_tokens, output, price);
        let sql = "INSERT INTO spending (user, agent, session, at, settled, tokens, micro_usd, input, output,
            cache_read, cache_creation, no_session, no_daily, no_monthly)
            VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, 0, 0, 0, 0, 0, 0, 0)";
        let (tokens, micro_usd) = (whole(aside.tokens), whole(aside.micro_usd));
        transaction.prepare_cached(sql)?.execute(params![
            user,
            account.agent,
            account.session,
            now,
            tokens,
            micro_usd
        ])?;
        let id = transaction.last_insert_rowid();
        transaction.commit()?;
        Ok(Ok(Aside { id, output_tokens }))
    }

    /// Puts what was used in the place of what was set aside, and adds it to the row `to` of the same turn, if that still
    /// counts in full. Gives the row in which it stands.
    ///
    /// # Errors
    /// If it cannot be written down: then what was set aside stays spent.
    pub fn settle(
        &self,
        aside: Aside,
        to: Option<i64>,
        usage: &Usage,
        spent: Spent,
    ) -> Result<i64, BooksError> {
        self.unhurried(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let amounts = |id: i64| {
                [
                    id,
                    whole(spent.tokens),
                    whole(spent.micro_usd),
                    whole(usage.input_tokens),
                    whole(usage.output_tokens),
                    whole(usage.cache_read_tokens),
                    whole(usage.cache_creation_tokens),
                ]
            };
            let add = "UPDATE spending SET tokens = min(tokens + ?2, ?9), micro_usd = min(micro_usd + ?3, ?9),
                input = min(input + ?4, ?9), output = min(output + ?5, ?9),
                cache_read = min(cache_read + ?6, ?9), cache_creation = min(cache_creation + ?7, ?9),
                at = max(at, (SELECT own.at FROM spending AS own WHERE own.id = ?8))
                WHERE id = ?1 AND no_session + no_daily + no_monthly = 0
                AND (SELECT own.no_session + own.no_daily + own.no_monthly FROM spending AS own WHERE own.id = ?8) = 0";
            if let Some(to) = to.filter(|to| *to != aside.id) {
                let row = amounts(to).into_iter().chain([aside.id, AMOUNT_MAX]);
                let added = transaction.prepare_cached(add)?.execute(params_from_iter(row))?;
                if added == 1 {
                    let delete = "DELETE FROM spending WHERE id = ?1";
                    transaction.prepare_cached(delete)?.execute([aside.id])?;
                    transaction.commit()?;
                    return Ok(to);
                }
            }
            let set = "UPDATE spending SET settled = 1, tokens = ?2, micro_usd = ?3, input = ?4, output = ?5,
                cache_read = ?6, cache_creation = ?7 WHERE id = ?1";
            transaction.prepare_cached(set)?.execute(amounts(aside.id))?;
            transaction.commit()?;
            Ok(aside.id)
        })
    }

    /// What was set aside counts as spent: nobody knows whether more of it comes back.
    ///
    /// # Errors
    /// If it cannot be written down: then it stays set aside.
    pub fn keep(&self, id: i64) -> Result<(), BooksError> {
        let sql = "UPDATE spending SET settled = 1 WHERE id = ?1";
        self.unhurried(|connection| Ok(connection.execute(sql, [id]).map(drop)?))
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

/// The longest answer in tokens for which so much is enough, beside the question.
fn answer_within(unit: Unit, left: f64, most: &Estimate) -> u64 {
    let question = Spent::at_most(most.input_tokens, 0, most.price.as_ref());
    match unit {
        Unit::Tokens => (left.max(0.0) as u64).saturating_sub(question.tokens),
        Unit::Usd => {
            let left = ((left * MICRO).max(0.0) as u64).saturating_sub(question.micro_usd);
            let price = most.price.map_or(0, |it| u128::from(it.output));
            if left == 0 {
                return 0;
            }
            let tokens = u128::from(left).saturating_mul(TOKENS_PER_PRICE).checked_div(price);
            tokens.map_or(u64::MAX, |it| u64::try_from(it).unwrap_or(u64::MAX))
        }
    }
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

/// As the database keeps it: never more than it can add two of.
fn whole(amount: u64) -> i64 {
    i64::try_from(amount).map_or(AMOUNT_MAX, |it| it.min(AMOUNT_MAX))
}

#[cfg(test)]
mod tests;
