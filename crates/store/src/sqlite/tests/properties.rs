//! No sequence of writes, reads, deletions, copies and summaries makes anything cleaner.

use std::collections::HashMap;

use model::{Taint, TaintTag};
use monitor::taint::normal;
use proptest::prelude::*;

use super::{find, memory, open, tag, user, write};
use crate::SqliteStore;
use crate::memory::Rows as _;

#[derive(Clone, Debug)]
enum Step {
    Write { who: usize, content: usize, tag: Option<u8> },
    Delete { who: usize, which: usize },
    Summarise { who: usize, content: usize },
}

const USERS: [&str; 2] = ["alice", "bob"];
/// The first three look alike to a reader.
const CONTENTS: [&str; 5] =
    ["Pay at pay.example", "pay  AT pay.example", "pay at\npay.ex\u{200b}ample", "tea", ""];

fn step() -> impl Strategy<Value = Step> {
    let (who, content) = (0..USERS.len(), 0..CONTENTS.len());
    prop_oneof![
        (who.clone(), content.clone(), proptest::option::of(any::<u8>()))
            .prop_map(|(who, content, tag)| Step::Write { who, content, tag }),
        (who.clone(), 0..8_usize).prop_map(|(who, which)| Step::Delete { who, which }),
        (who, content).prop_map(|(who, content)| Step::Summarise { who, content }),
    ]
}

/// The least that content must carry from now on, by user and by what a reader sees of it.
#[derive(Default)]
struct Expected(HashMap<(usize, String), Taint>);

impl Expected {
    fn add(&mut self, who: usize, content: &str, tag: Option<&TaintTag>) {
        let entry = self.0.entry((who, normal(content))).or_default();
        *entry = entry.union(tag.map_or(Taint::NONE, |it| it.taint));
    }

    fn check(&self, who: usize, content: &str, tag: Option<&TaintTag>) {
        let least = self.0.get(&(who, normal(content))).copied().unwrap_or_default();
        let found = tag.map_or(Taint::NONE, |it| it.taint);
        assert!(found.contains(least), "{content:?} became cleaner: {least} was {found}");
    }
}

fn apply(store: &SqliteStore, expected: &mut Expected, step: &Step) {
    match *step {
        Step::Write { who, content, tag: bits } => {
            let content = CONTENTS[content];
            let tag = bits.and_then(|it| Taint::from_bits(it.into())).map(|it| tag(it, 1));
            expected.add(who, content, tag.as_ref());
            let written = write(store, USERS[who], content, tag);
            expected.check(who, content, written.tag.as_ref());
        }
        Step::Delete { who, which } => {
            if let Some(row) = find(store, USERS[who], "").get(which) {
                store.delete_row(&user(USERS[who]), row.id).unwrap();
            }
        }
        Step::Summarise { who, content } => {
            let content = CONTENTS[content];
            let rows = find(store, USERS[who], "");
            for row in &rows {
                expected.add(who, content, row.tag.as_ref());
            }
            let new = memory(USERS[who], content, None);
            let written = store.keep_derived(new, &rows).unwrap();
            expected.check(who, content, written.tag.as_ref());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_ever_becomes_cleaner(steps in proptest::collection::vec(step(), 1..24)) {
        let (dir, mut store) = open();
        let mut expected = Expected::default();
        for (number, step) in steps.iter().enumerate() {
            apply(&store, &mut expected, step);
            if number % 8 == 7 {
                drop(store);
                store = SqliteStore::open(&dir.path().join("store.sqlite")).unwrap();
            }
            for (who, name) in USERS.iter().enumerate() {
                for row in find(&store, name, "") {
                    expected.check(who, &row.content, row.tag.as_ref());
                }
            }
        }
    }
}
