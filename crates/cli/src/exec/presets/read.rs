//! Reads the table of one agent: a word and what it is about on each line.

use std::fmt;

use sandbox::cage::Access;

/// What one agent needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// Hosts that it may reach.
    pub(crate) hosts: Vec<&'static str>,
    /// Its own files and directories, seen from the home.
    pub(crate) places: Vec<Place>,
    /// Variables that it gets as the person has them.
    pub(crate) taken: Vec<&'static str>,
    /// Variables that it gets with a value of ours.
    pub(crate) set: Vec<(&'static str, &'static str)>,
}

/// A file or a directory of an agent's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Seen from the home.
    pub(crate) at: &'static str,
    /// Is it a directory?
    pub(crate) is_dir: bool,
    pub(crate) access: Access,
}

/// A line of a table that says nothing we know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TableError {
    line: usize,
    what: &'static str,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for TableError {}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// The first line that is none.
    pub(crate) fn read(text: &'static str) -> Result<Self, TableError> {
        let mut table = Self::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            table.add(line).map_err(|what| TableError { line: at.saturating_add(1), what })?;
        }
        Ok(table)
    }

    fn add(&mut self, line: &'static str) -> Result<(), &'static str> {
        let (word, rest) = line.split_once(char::is_whitespace).ok_or("there is one word alone")?;
        let rest = rest.trim();
        match word {
            "host" => self.hosts.push(rest),
            "read" => self.places.push(Place::of(rest, Access::Read)?),
            "write" => self.places.push(Place::of(rest, Access::Write)?),
            "copy" => self.places.push(Place::of(rest, Access::Copy)?),
            "env" => self.taken.push(rest),
            "set" => self.set.push(rest.split_once('=').ok_or("there is no value")?),
            _ => return Err("the first word is none of host, read, write, copy, env, set"),
        }
        Ok(())
    }
}

impl Place {
    fn of(text: &'static str, access: Access) -> Result<Self, &'static str> {
        let (at, is_dir) = match text.strip_suffix('/') {
            Some(at) => (at, true),
            None => (text, false),
        };
        let plain = |part: &str| !matches!(part, "" | "." | "..");
        if !at.split('/').all(plain) {
            return Err("a path goes down from the home, without dots");
        }
        if is_dir && access == Access::Copy {
            return Err("a directory is not copied");
        }
        Ok(Self { at, is_dir, access })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_or_refused_with_its_number() {
        let table = Table::read(
            "# a comment\n\nhost a.example\nread .a/\nwrite  .b/c\ncopy .d\nenv E\nset F=1=2\n",
        );
        let table = table.unwrap();
        let places = [(".a", true), (".b/c", false), (".d", false)];
        let found: Vec<_> = table.places.iter().map(|it| (it.at, it.is_dir)).collect();
        assert_eq!(found, places);
        assert_eq!(table.set, [("F", "1=2")]);
        for (text, line) in [
            ("host", 1),
            ("\nreed .a", 2),
            ("read /etc", 1),
            ("write ../x", 1),
            ("read a//b", 1),
            ("copy .a/", 1),
            ("# x\nset A", 2),
            ("read /", 1),
        ] {
            assert_eq!(Table::read(text).unwrap_err().line, line, "{text}");
        }
    }
}
