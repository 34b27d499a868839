//! What must not get out is known as soon as it changes, and whoever tries to find it out is noticed.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use evidence::{Config, Journal, Reader, SystemClock};
use model::{AgentId, Caller, Effect, Kind, RawCall, SessionId, Source as From, ToolDef, UserId};
use monitor::provenance::Catalogue;
use monitor::{Asked, Executor, Heard, Monitor, Opening, Output, Permit, Scrubber, Setup};
use policy::Policy;
use serde_json::{Value, json};
use store::SqliteStore;
use vault::{Keeper, Key, NEAR_MISSES_MAX, Name, SHAPED_MAX, Secret, Source, VaultFile};

use crate::{name, secret};

const OLD: &str = "old-token-7d3kqp0zx2vm";
const NEW: &str = "new-token-498fj1mcz7wq";

/// A keeper on a vault, or on an environment.
struct Place {
    dir: tempfile::TempDir,
    journal: Arc<Journal>,
    keeper: Keeper,
}

impl Place {
    fn of(source: impl FnOnce(&Path) -> Source) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&Config::new(dir.path().join("evidence"))).unwrap().0;
        let (journal, source) = (Arc::new(journal), source(dir.path()));
        let keeper = Keeper::open(source, Arc::clone(&journal), Arc::new(SystemClock)).unwrap();
        Self { dir, journal, keeper }
    }

    /// With one secret in a vault.
    fn with(value: &str) -> Self {
        Self::of(|home| {
            let (file, key) = (VaultFile::in_home(home), Key::generate());
            key.write(&file.key_path()).unwrap();
            file.create(&key).unwrap();
            set(&file, &key, "KEY", value);
            Source::Vault { file, key }
        })
    }

    fn file(&self) -> (VaultFile, Key) {
        let file = VaultFile::in_home(self.dir.path());
        let key = vault::unlock(&file, None).unwrap();
        (file, key)
    }

    fn hides(&self, value: &str, name: &str) {
        let clean = self.keeper.scrub(&format!("<{value}>"));
        assert_eq!(clean.as_deref(), Some(format!("<[secret:{name}]>").as_str()), "{value}");
    }

    fn incidents(&self) -> Vec<Value> {
        self.journal.checkpoint().unwrap();
        let reader = Reader::open(&self.dir.path().join("evidence")).unwrap();
        let mut found = Vec::new();
        let see = |entry: evidence::Entry<'_>| {
            let record: Value = serde_json::from_slice(entry.record).unwrap();
            if record.pointer("/meta/kind") == Some(&json!("incident")) {
                found.push(record["payload"]["inline"].clone());
            }
            ControlFlow::<()>::Continue(())
        };
        reader.read(reader.start().unwrap(), see).unwrap();
        found
    }
}

fn set(file: &VaultFile, key: &Key, of: &str, value: &str) {
    file.change(key, |it| it.set(&name(of), secret(value), None, 1).map(drop)).unwrap();
}

/// Stores new values while it has a permit, as who renews tokens does.
struct Renewing<'a> {
    keeper: &'a Keeper,
    values: Mutex<Vec<(Name, Secret)>>,
}

impl Executor for Renewing<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let values = std::mem::take(&mut *self.values.lock().unwrap());
        self.keeper.store(&permit, values).unwrap();
        drop(permit.spend());
        Output::text("done")
    }
}

fn renew(place: &Place, value: &str) {
    let store = SqliteStore::open(&place.dir.path().join("store.sqlite")).unwrap();
    let monitor = Monitor::new(Setup {
        journal: Arc::clone(&place.journal),
        state: Arc::new(store),
        policy: Arc::new(Policy::embedded().unwrap()),
        catalogue: Catalogue::default(),
        clock: Arc::new(SystemClock),
    });
    let who = Caller {
        session: SessionId::parse("s").unwrap(),
        user: UserId::parse("ann").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::parse("ipc").unwrap(),
    };
    let tool = ToolDef::from_value(&json!({
        "name": "search_notes",
        "description": "Searches the notes for a text.",
        "inputSchema": { "type": "object", "properties": { "query": { "type": "string" } } },
    }));
    let opening = Opening { tools: vec![tool.unwrap()], ..Opening::of_one_person(who.clone()) };
    monitor.open_session(opening).unwrap();
    let heard = Heard { source: From::User, origin: "", text: "search my notes for minutes" };
    monitor.hear(&who, &heard).unwrap();
    let values = Mutex::new(vec![(name("KEY"), secret(value))]);
    let asked = RawCall { tool: "search_notes", args: br#"{"query":"minutes"}"# };
    let renewing = Renewing { keeper: &place.keeper, values };
    monitor.run(&who, &Asked::Tool(asked), &renewing).unwrap();
}

#[test]
fn a_token_that_was_renewed_is_hidden_as_it_was_and_as_it_is() {
    let env = |_: &Path| Source::Env(vec![("LAZARET_SECRET_KEY".to_owned(), OLD.into())]);
    for place in [Place::with(OLD), Place::of(env)] {
        place.hides(OLD, "KEY");
        assert_eq!(place.keeper.scrub(NEW), None);
        renew(&place, NEW);
        place.hides(NEW, "KEY");
        place.hides(OLD, "KEY");
        let held: Vec<_> = place.keeper.held(NEW).into_iter().map(|it| it.name).collect();
        assert_eq!(held, ["KEY"]);
    }
}

#[test]
fn what_another_process_changed_is_hidden_at_once_and_what_fell_out_of_the_vault_still_is() {
    let place = Place::with(OLD);
    let (file, key) = place.file();
    let values: Vec<String> = (0..8).map(|it| format!("{it}-token-498fj1mcz7wq")).collect();
    for value in &values {
        set(&file, &key, "KEY", value);
        place.hides(value, "KEY");
        place.hides(OLD, "KEY");
    }
    values.iter().for_each(|it| place.hides(it, "KEY"));
    file.change(&key, |it| it.remove(&name("KEY"))).unwrap();
    values.iter().for_each(|it| place.hides(it, "KEY"));
}

#[test]
fn what_opens_the_vault_is_hidden_also_after_it_was_changed() {
    let identity = |file: &VaultFile| {
        let text = fs::read_to_string(file.key_path()).unwrap();
        text.lines().find(|it| it.starts_with("AGE-SECRET-KEY-")).unwrap().to_owned()
    };
    let place = Place::with(OLD);
    let (file, key) = place.file();
    let first = identity(&file);
    place.hides(&first, "key of the vault");
    let path = file.key_path();
    file.rekey(&key, Key::generate(), |key| key.write(&path)).unwrap();
    let second = identity(&file);
    assert_ne!(first, second);
    place.hides(&second, "key of the vault");
    place.hides(&first, "key of the vault");
    // And after the next change of what is in it.
    let key = vault::unlock(&file, None).unwrap();
    set(&file, &key, "KEY", NEW);
    place.hides(NEW, "KEY");
    place.hides(&second, "key of the vault");
    place.hides(&first, "key of the vault");
}

#[test]
fn who_tries_values_is_told_nothing_any_more_and_is_on_record() {
    let value = "ghp_R4nd0mT0kenV4lueZq81LkWm27VbTx09sPqH";
    let place = Place::with(value);
    let known = value.get(..36).unwrap();
    for guess in 0..NEAR_MISSES_MAX {
        let text = format!("is it {known}{guess:04}?");
        assert_eq!(place.keeper.scrub(&text), None, "{text}");
    }
    assert!(place.incidents().is_empty());
    place.hides(value, "KEY");
    // From now on a miss and a hit read the same.
    let told: Vec<_> = [format!("{known}zzzz"), value.to_owned(), format!("{known}zzzy")]
        .iter()
        .map(|it| place.keeper.scrub(&format!("is it {it}?")).unwrap())
        .collect();
    assert!(told.iter().all(|it| *it == told[0] && it.starts_with("[withheld")), "{told:?}");
    // So they do for what an agent says.
    let name = |text: &str| place.keeper.held(text)[0].name.clone();
    assert_eq!(name(value), name(&format!("{known}zzzx")));
    let incidents = place.incidents();
    assert_eq!(incidents.len(), 1, "{incidents:?}");
    assert_eq!(incidents[0]["incident"], "secret_guessed");
    assert_eq!(incidents[0]["keys"], json!(["KEY"]));
    // Other texts are as before.
    assert_eq!(place.keeper.scrub("nothing of it"), None);
}

/// Sixty at a time, each by another process.
#[test]
fn a_new_process_goes_on_counting() {
    let value = "ghp_R4nd0mT0kenV4lueZq81LkWm27VbTx09sPqH";
    let known = value.get(..36).unwrap();
    let mut place = Place::with(value);
    let mut again = |from: usize| {
        let store = SqliteStore::open(&place.dir.path().join("store.sqlite")).unwrap();
        let (file, key) = place.file();
        let (source, journal) = (Source::Vault { file, key }, Arc::clone(&place.journal));
        let keeper = Keeper::open(source, journal, Arc::new(SystemClock)).unwrap();
        place.keeper = keeper.counting_by(Arc::new(store));
        let tried: String = (from..from + 60).map(|it| format!("{known}{it:04} ")).collect();
        (place.keeper.scrub(&tried), place.incidents().len())
    };
    assert_eq!(again(0), (None, 0));
    assert_eq!(again(0), (None, 0), "the same ones");
    let (told, incidents) = again(60);
    assert!(told.is_some() && incidents == 1);
    assert_eq!(again(60).1, 1, "it was told");
    let told = place.keeper.scrub(value).unwrap();
    assert!(told.starts_with("[withheld"), "{told}");
}

/// All numbers in one text, and in many.
#[test]
fn a_secret_that_can_be_guessed_is_not_shown_by_what_is_taken_out() {
    let place = Place::with("83920174");
    let numbers =
        |from: usize, to: usize| (from..to).map(|it| format!("{it:08}\n")).collect::<String>();
    let all = numbers(83_900_000, 83_900_000 + SHAPED_MAX) + "83920174\n";
    assert_eq!(place.keeper.scrub(&all), None);
    assert!(place.keeper.held(&all).is_empty());
    let incidents = place.incidents();
    assert_eq!(incidents.len(), 1, "{incidents:?}");
    assert_eq!(incidents[0]["incident"], "secret_guessed");
    for at in 0..20 {
        assert_eq!(place.keeper.scrub(&numbers(at * 1000, (at + 1) * 1000)), None);
    }
    assert_eq!(place.incidents().len(), 1);
}
