//! What users spend: set aside before each question to a model, settled after it.
//!
//! INVARIANT (NeverUndercounted): a question is asked only after a row for it is durable, and that row counts from then on.
//! Settling replaces what was set aside by what was used; a server that dies in between leaves it as it was set aside.
//! Settling needs not be durable by itself: what is lost of it stays spent.

use agent::{Aside, Estimate};
use llm::{Price, Usage};
use policy::access::{Budget, Limits, Unit, User};
use rusqlite::{Connection, Row, TransactionBehavior, params, params_from_iter};
use serde::Deserialize;

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
const DAY: i64 = 86_400;
/// The windows of a budget, in seconds.
const MONTH: i64 = 30 * DAY;
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

/// The sum of amounts, rounded up where there is more than a float tells apart. One of whole numbers would fail where it
/// does not fit, and the books would not answer until what was told of so much has left the window.
fn sum(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, f64>(at)
        .map(|it| if it.is_sign_negative() && it != 0.0 { u64::MAX } else { it.ceil() as u64 })
}

#[cfg(test)]
mod tests {
    use policy::access::{KnownTools, Users};

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn ann() -> User {
        let budget = "{unit: tokens, sessionLimit: 1e12, dailyLimit: 1000000, monthlyLimit: 1e12}";
        let text = format!("users:\n  - {{name: ann, agents: [main], budget: {budget}}}\n");
        Users::parse(&text, &KnownTools::default()).unwrap().get("ann").unwrap().clone()
    }

    fn used(tokens: u64) -> Usage {
        Usage { input_tokens: tokens, ..Usage::default() }
    }

    /// Sets something aside and settles it, on `to` if that is given.
    fn spend(books: &Books, user: &User, tokens: u64, (to, now): (Option<i64>, i64)) -> i64 {
        let account = Account { user, agent: "main", session: "s" };
        let most = Estimate { input_tokens: 1, output_tokens: 300, price: None };
        let aside = books.reserve(&account, &most, now).unwrap().unwrap();
        books.settle(aside, to, &used(tokens), Spent::of(&used(tokens), None)).unwrap()
    }

    #[test]
    fn whatever_a_provider_says_was_used_the_books_go_on_to_answer() {
        let home = tempfile::tempdir().unwrap();
        let books = Books::open(home.path()).unwrap();
        let user = User { budget: Budget::Unlimited, ..ann() };
        // A row is added to, and rows are added up.
        let row = spend(&books, &user, u64::MAX, (None, NOW));
        for _ in 0..8 {
            assert_eq!(spend(&books, &user, u64::MAX, (Some(row), NOW)), row);
            spend(&books, &user, u64::MAX, (None, NOW));
        }
        let totals = books.totals("ann", "s", NOW).unwrap();
        assert_eq!(totals.daily.tokens, u64::MAX);
        assert!(books.summary(NOW).unwrap()[0].1.tokens == u64::MAX);
        let ann = ann();
        let account = Account { user: &ann, agent: "main", session: "s" };
        assert_eq!(books.left(&account, NOW).unwrap().unwrap_err().budget, "session");
        // An administrator lets it count no more, and everything goes on.
        assert!(books.reset("ann", Scope::All).unwrap() > 0);
        assert!(books.left(&account, NOW).unwrap().is_ok());
        assert_eq!(books.spent_with("main", NOW).unwrap().1.tokens, u64::MAX, "it was spent");
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing_back() {
        let home = tempfile::tempdir().unwrap();
        let books = Books::open(home.path()).unwrap();
        let user = ann();
        spend(&books, &user, 999_999, (None, NOW));
        for now in [NOW - 10 * MONTH, NOW - 1, NOW, NOW + DAY - 1, i64::MIN] {
            let account = Account { user: &user, agent: "main", session: "other" };
            let most = Estimate { input_tokens: 100, output_tokens: 300, price: None };
            let exceeded = books.reserve(&account, &most, now).unwrap().unwrap_err();
            assert_eq!((exceeded.budget, exceeded.used), ("daily", 999_999.0), "{now}");
        }
        assert_eq!(books.totals("ann", "s", NOW + DAY).unwrap().daily.tokens, 0);
    }

    #[test]
    fn two_who_ask_at_once_from_two_processes_do_not_overshoot() {
        let home = tempfile::tempdir().unwrap();
        let ours = Books::open(home.path()).unwrap();
        let theirs = Books::open(home.path()).unwrap();
        let user = ann();
        let most = Estimate { input_tokens: 0, output_tokens: 400_000, price: None };
        let ask = |books: &Books| -> u64 {
            let account = Account { user: &user, agent: "main", session: "s" };
            let asides = (0..20).map_while(|_| books.reserve(&account, &most, NOW).unwrap().ok());
            asides.filter_map(|it| it.output_tokens).sum()
        };
        let aside = std::thread::scope(|scope| {
            let (one, two) = (scope.spawn(|| ask(&ours)), scope.spawn(|| ask(&theirs)));
            one.join().unwrap() + two.join().unwrap()
        });
        assert!((999_000..=1_000_000).contains(&aside), "{aside}");
        // Somebody who opens the books meanwhile takes nothing of it away.
        let third = Books::open(home.path()).unwrap();
        assert_eq!(third.totals("ann", "s", NOW).unwrap().daily.tokens, aside);
    }
}
