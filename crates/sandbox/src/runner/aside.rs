//! What a command made where it would be obeyed, as far as it is told.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cage::SetAside;

/// Things that are told. A command can make as many as there is room for.
const TOLD_MAX: usize = 64;
/// The longest path that is told, in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// What was set aside when a command had ended, or could not be: the first of it, and how much more there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
pub struct Aside {
    /// The first.
    pub first: Vec<SetAside>,
    /// How many more there are.
    pub more: usize,
}

impl Aside {
    /// What is told of all of it.
    #[must_use]
    pub fn of(all: Vec<SetAside>) -> Self {
        let count = all.len();
        let fits = |it: &SetAside| {
            let paths = std::iter::once(&it.at).chain(&it.now);
            paths.map(|it| it.as_os_str().len()).all(|it| it <= PATH_BYTES_MAX)
        };
        let first: Vec<SetAside> = all.into_iter().filter(fits).take(TOLD_MAX).collect();
        let more = count.saturating_sub(first.len());
        Self { first, more }
    }

    /// Was nothing set aside?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.more == 0
    }
}

/// As the launcher says it: a path need not be text.
#[derive(Serialize, Deserialize)]
struct Form {
    first: Vec<(OsString, Option<OsString>)>,
    more: usize,
}

impl From<Aside> for Form {
    fn from(Aside { first, more }: Aside) -> Self {
        let one = |it: SetAside| (it.at.into_os_string(), it.now.map(PathBuf::into_os_string));
        Self { first: first.into_iter().map(one).collect(), more }
    }
}

impl From<Form> for Aside {
    fn from(Form { first, more }: Form) -> Self {
        let one = |(at, now): (OsString, Option<OsString>)| SetAside {
            at: at.into(),
            now: now.map(PathBuf::from),
        };
        Self { first: first.into_iter().map(one).collect(), more }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn it_is_told_as_it_is_and_no_more_than_fits_into_a_message() {
        let odd = PathBuf::from(OsString::from_vec(vec![b'/', 0xff, b'\n']));
        let one = |at: &PathBuf| SetAside { at: at.clone(), now: Some(at.clone()) };
        let few = Aside::of(vec![one(&odd), SetAside { at: odd.clone(), now: None }]);
        assert_eq!((few.first.len(), few.more), (2, 0));
        let told = serde_json::to_vec(&few).unwrap();
        assert_eq!(serde_json::from_slice::<Aside>(&told).unwrap(), few);
        let longest = PathBuf::from(OsString::from_vec(vec![0xff; PATH_BYTES_MAX]));
        let longer = PathBuf::from(OsString::from_vec(vec![0xff; PATH_BYTES_MAX + 1]));
        let mut all = vec![one(&longer)];
        all.extend(std::iter::repeat_n(one(&longest), 1000));
        let many = Aside::of(all);
        assert_eq!((many.first.len(), many.more), (TOLD_MAX, 1001 - TOLD_MAX));
        let message = super::super::wire::MESSAGE_BYTES_MAX;
        assert!(serde_json::to_vec(&many).unwrap().len() < message);
    }
}
