//! Sessions and what was said in them. A session is one user's, and nobody else learns that it is there.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{Books, BooksError};
use crate::limits::{MESSAGES_BYTES_MAX, MESSAGES_SHOWN_MAX};

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent: String,
    /// The beginning of its first message.
    pub title: String,
    /// When it was made, in seconds since 1970.
    pub created: i64,
    /// When something was said last.
    pub updated: i64,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number.
    pub id: i64,
    /// Who said it.
    pub role: String,
    /// What.
    pub content: String,
    /// When.
    pub at: i64,
}

/// Which messages of a session are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Those after this number.
    pub after: i64,
    /// At most so many.
    pub limit: usize,
    /// With at most so many bytes, unless it is one.
    pub bytes: usize,
}

impl Default for Page {
    fn default() -> Self {
        Self { after: 0, limit: MESSAGES_SHOWN_MAX, bytes: MESSAGES_BYTES_MAX }
    }
}

/// Messages of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// The messages.
    pub messages: Vec<MessageRow>,
    /// After which number the next ones are; none if these are the last.
    pub next: Option<i64>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The agent.
    Assistant,
}

/// The longest title, in characters.
const TITLE_CHARS_MAX: usize = 80;

impl Books {
    /// Begins a session, unless the user has `at_most` of them. Is it there now?
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn begin(
        &self,
        id: &str,
        (user, agent): (&str, &str),
        at_most: u32,
        now: i64,
    ) -> Result<bool, BooksError> {
        let sql = "INSERT INTO sessions (id, user, agent, title, created, updated)
            SELECT ?1, ?2, ?3, '', ?4, ?4 WHERE (SELECT count(*) FROM sessions WHERE user = ?2) < ?5";
        Ok(self.lock().execute(sql, params![id, user, agent, now, at_most])? > 0)
    }

    /// The session of this id, if it is the user's.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn session(&self, user: &str, id: &str) -> Result<Option<SessionRow>, BooksError> {
        let sql =
            "SELECT id, agent, title, created, updated FROM sessions WHERE id = ?1 AND user = ?2";
        Ok(self.lock().query_row(sql, [id, user], session).optional()?)
    }

    /// The user's newest sessions, with one agent if it is named.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn sessions(
        &self,
        user: &str,
        agent: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, BooksError> {
        let sql = "SELECT id, agent, title, created, updated FROM sessions
            WHERE user = ?1 AND (?2 IS NULL OR agent = ?2) ORDER BY updated DESC, id LIMIT ?3";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![user, agent, limit], session)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Keeps what was said.
    ///
    /// # Errors
    /// If it may not be durable, or the session has gone.
    pub fn say(
        &self,
        session: &str,
        role: Role,
        content: &str,
        now: i64,
    ) -> Result<(), BooksError> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let word = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let sql = "INSERT INTO messages (session, role, content, at) VALUES (?1, ?2, ?3, ?4)";
        transaction.prepare_cached(sql)?.execute(params![session, word, content, now])?;
        let title: String = content.chars().take(TITLE_CHARS_MAX).collect();
        let sql = "UPDATE sessions SET updated = ?2, title = CASE WHEN title = '' THEN ?3 ELSE title END WHERE id = ?1";
        transaction.prepare_cached(sql)?.execute(params![session, now, title])?;
        Ok(transaction.commit()?)
    }

    /// A page of what was said in a session, the oldest first: at least one message, if there is one.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn messages(&self, session: &str, page: Page) -> Result<Messages, BooksError> {
        let sql =
            "SELECT id, role, content, at FROM messages WHERE session = ?1 AND id > ?2 ORDER BY id";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        // One at a time: what is not shown is not read.
        let rows = statement.query_map(params![session, page.after], |row| {
            Ok(MessageRow {
                id: row.get(0)?,
                role: row.get(1)?,
                content: row.get(2)?,
                at: row.get(3)?,
            })
        })?;
        let (mut found, mut bytes) = (Messages::default(), 0_usize);
        for row in rows {
            let row = row?;
            bytes = bytes.saturating_add(row.content.len());
            let is_over = bytes > page.bytes || found.messages.len() >= page.limit;
            if let (true, Some(last)) = (is_over, found.messages.last()) {
                found.next = Some(last.id);
                break;
            }
            found.messages.push(row);
        }
        Ok(found)
    }

    /// Is anything kept of this user?
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn knows(&self, user: &str) -> Result<bool, BooksError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM sessions WHERE user = ?1)
            OR EXISTS (SELECT 1 FROM spending WHERE user = ?1)
            OR EXISTS (SELECT 1 FROM consent WHERE user = ?1)";
        Ok(self.lock().query_row(sql, [user], |row| row.get(0))?)
    }

    /// Forgets a session of the user. Was there one?
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn forget(&self, user: &str, id: &str) -> Result<bool, BooksError> {
        let sql = "DELETE FROM sessions WHERE id = ?1 AND user = ?2";
        Ok(self.lock().execute(sql, [id, user])? > 0)
    }
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        agent: row.get(1)?,
        title: row.get(2)?,
        created: row.get(3)?,
        updated: row.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_read_in_pages_and_a_user_has_so_many() {
        let home = tempfile::tempdir().unwrap();
        let books = Books::open(home.path()).unwrap();
        assert!(books.begin("s1", ("ann", "main"), 2, 1).unwrap());
        assert!(books.begin("s2", ("ann", "main"), 2, 1).unwrap());
        assert!(!books.begin("s3", ("ann", "main"), 2, 1).unwrap());
        assert!(books.begin("s3", ("bob", "main"), 2, 1).unwrap());
        assert!(books.knows("bob").unwrap() && !books.knows("cleo").unwrap());
        for text in ["one", "a longer one", "x"] {
            books.say("s1", Role::User, text, 2).unwrap();
        }
        let texts = |page: Page| {
            let found = books.messages("s1", page).unwrap();
            let texts: Vec<String> = found.messages.into_iter().map(|it| it.content).collect();
            (texts.join(","), found.next)
        };
        assert_eq!(texts(Page::default()), ("one,a longer one,x".to_owned(), None));
        let (first, next) = texts(Page { limit: 2, ..Page::default() });
        assert_eq!(first, "one,a longer one");
        let rest = Page { after: next.unwrap(), limit: 2, ..Page::default() };
        assert_eq!(texts(rest), ("x".to_owned(), None));
        // Bytes count as well, but one message always comes.
        let (first, next) = texts(Page { bytes: 5, ..Page::default() });
        assert_eq!(first, "one");
        let (second, next) = texts(Page { after: next.unwrap(), bytes: 5, limit: 9 });
        assert_eq!((second.as_str(), next.is_some()), ("a longer one", true));
    }

    #[test]
    fn what_is_stale_is_known_before_it_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let books = Books::open(home.path()).unwrap();
        for (id, now) in [("old", 10), ("new", 100)] {
            books.begin(id, ("ann", "main"), 9, now).unwrap();
        }
        let stale = books.stale(50, 9).unwrap();
        assert_eq!(stale, [("ann".to_owned(), "main".to_owned(), "old".to_owned())]);
        // Somebody goes on with it meanwhile.
        books.say("old", Role::User, "hello", 60).unwrap();
        assert!(!books.forget_stale("old", 50).unwrap());
        assert!(books.forget_stale("old", 61).unwrap());
        assert!(books.stale(1000, 1).unwrap().len() == 1 && !books.knows("bob").unwrap());
    }
}
