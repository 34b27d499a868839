//! Databases: what they are told to throw away, to show, to run and to write, and whom they let in.

use crate::{Call, Engine, Rule, Words, text};

const DATABASES: [&str; 8] =
    ["mysql", "mariadb", "psql", "sqlite3", "sqlcmd", "mongo", "mongosh", "clickhouse-client"];
/// Where they keep who may log in.
static KEPT: Words = Words::named("judge.databases.KEPT");
const DROPPING: [&str; 5] =
    ["drop table", "drop database", "drop schema", "truncate table", "dropdatabase"];
/// They run programs, load code, or read and write files of the server.
static RUNNING: Words = Words::named("judge.databases.RUNNING");
/// They let somebody in to everything.
static ADMITTING: Words = Words::named("judge.databases.ADMITTING");

impl Engine<'_> {
    pub(super) fn judge_databases(&mut self, call: &Call<'_>) {
        if !DATABASES.contains(&call.name.as_str()) {
            return;
        }
        let given = call.stdin.map(text).unwrap_or_default();
        let told = format!("{}\n{given}", call.plain().join(" ")).to_lowercase();
        let has = |words: &[&str]| words.iter().any(|it| told.contains(it));
        if has(&KEPT) {
            self.ask(Rule::Credentials, "it reads the passwords of a database");
        }
        if has(&DROPPING) {
            self.ask(Rule::Erase, "it drops a table or a database");
        }
        if has(&RUNNING) {
            self.ask(Rule::Spawn, "it makes a database run programs, or read and write files");
        }
        if has(&ADMITTING) {
            self.ask(Rule::Accounts, "it lets somebody in to everything of a database");
        }
    }
}
