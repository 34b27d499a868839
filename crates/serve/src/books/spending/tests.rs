//! Sums of any size, a clock that goes back, and two processes at once.

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
