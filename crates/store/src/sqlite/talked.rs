//! What is remembered of conversations and of prompts.

use aegx::Digest;
use model::{AgentId, UserId};
use monitor::{StateError, TALK_BYTES_MAX, Talked};
use rusqlite::{OptionalExtension as _, params};

use super::SqliteStore;
use super::packed::{pack_fast, unpack};
use crate::error::Broken;

/// Conversations that are kept; beyond, those that were silent for longest are forgotten.
const TALKS_MAX: i64 = 10_000;
/// Prompts that are kept; beyond, those that were registered longest ago are forgotten.
const PROMPTS_MAX: i64 = 256;
/// The longest form of a prompt, in bytes.
const FORM_BYTES_MAX: usize = 48 << 20;
/// About what a row costs beside its own bytes.
const ROW_BYTES: usize = 128;

impl Talked for SqliteStore {
    fn talk(&self, user: &UserId, agent: &AgentId) -> Result<Option<Vec<u8>>, StateError> {
        let found = self.look(|db| {
            let mut select =
                db.prepare_cached("SELECT talk FROM talks WHERE user = ?1 AND agent = ?2")?;
            let row = select.query_row(params![user.as_str(), agent.as_str()], |row| row.get(0));
            Ok(row.optional()?)
        })?;
        Ok(found)
    }

    fn keep_talk(&self, user: &UserId, agent: &AgentId, talk: &[u8]) -> Result<(), StateError> {
        check(talk, TALK_BYTES_MAX)?;
        let (user, agent, talk) = (user.clone(), agent.clone(), talk.to_vec());
        Ok(self.soon(talk.len() + ROW_BYTES, move |db| {
            let mut insert = db.prepare_cached(
                "INSERT INTO talks (user, agent, at, talk)
                 VALUES (?1, ?2, (SELECT coalesce(max(at), 0) + 1 FROM talks), ?3)
                 ON CONFLICT (user, agent) DO UPDATE SET at = excluded.at, talk = excluded.talk",
            )?;
            insert.execute(params![user.as_str(), agent.as_str(), talk])?;
            let mut forget = db.prepare_cached(
                "DELETE FROM talks WHERE at IN
                     (SELECT at FROM talks ORDER BY at DESC LIMIT -1 OFFSET ?1)",
            )?;
            forget.execute([TALKS_MAX])?;
            Ok(())
        })?)
    }

    fn prompt(&self, form: &Digest) -> Result<Option<Vec<u8>>, StateError> {
        let digest = form.to_hex();
        let found = self.look(|db| {
            let mut select = db.prepare_cached("SELECT form FROM prompts WHERE digest = ?1")?;
            let row = select.query_row([digest.as_str()], |row| row.get::<_, Vec<u8>>(0));
            row.optional()?.map(unpack).transpose()
        })?;
        Ok(found)
    }

    fn keep_prompt(&self, form: &Digest, kept: &[u8]) -> Result<(), StateError> {
        check(kept, FORM_BYTES_MAX)?;
        let (digest, kept) = (form.to_hex().as_str().to_owned(), pack_fast(kept)?);
        Ok(self.soon(kept.len() + ROW_BYTES, move |db| {
            let mut before = db.prepare_cached("DELETE FROM prompts WHERE digest = ?1")?;
            before.execute([&digest])?;
            let mut insert =
                db.prepare_cached("INSERT INTO prompts (digest, form) VALUES (?1, ?2)")?;
            insert.execute(params![digest, kept])?;
            let mut forget = db.prepare_cached(
                "DELETE FROM prompts WHERE n NOT IN
                     (SELECT n FROM prompts ORDER BY n DESC LIMIT ?1)",
            )?;
            forget.execute([PROMPTS_MAX])?;
            Ok(())
        })?)
    }
}

fn check(bytes: &[u8], most: usize) -> Result<(), Broken> {
    if bytes.len() <= most {
        return Ok(());
    }
    Err(Broken::new(format_args!("{} bytes are to be kept, at most {most} fit", bytes.len())))
}
