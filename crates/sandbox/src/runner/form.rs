//! A cage and what is put into it, as it is told to the launcher. Nobody else reads or writes this.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cage::{Cage, Inmate, Limits, Maker, Network, Rung};

/// What the launcher is told.
#[derive(Serialize, Deserialize)]
pub(super) struct Order {
    workspaces: Vec<OsString>,
    readable: Vec<OsString>,
    shown: Vec<OsString>,
    changed: Vec<OsString>,
    home: Option<OsString>,
    state: Option<OsString>,
    own: Option<OsString>,
    proxy: Option<String>,
    limits: Limits,
    needed: Vec<Rung>,
    without: Vec<Rung>,
    maker: Maker,
    words: Vec<OsString>,
    directory: OsString,
    environment: Vec<(OsString, OsString)>,
    /// Is its standard input its standard output, a socket?
    speaks: bool,
}

impl Order {
    /// The same for a program that hears and speaks at one socket.
    pub(super) fn speaking(self) -> Self {
        Self { speaks: true, ..self }
    }

    pub(super) fn speaks(&self) -> bool {
        self.speaks
    }

    /// A terminal is not part of it: an agent has none.
    pub(super) fn of(cage: &Cage, inmate: &Inmate) -> Self {
        let Cage {
            workspaces,
            readable,
            shown,
            changed,
            // For the program of a person's own agent, which no launcher starts.
            belongings: _,
            lines: _,
            home,
            state,
            own,
            network,
            limits,
            needed,
            without,
            maker,
        } = cage.clone();
        let Inmate { words, directory, environment, terminal: _ } = inmate.clone();
        let all = |paths: Vec<PathBuf>| paths.into_iter().map(PathBuf::into_os_string).collect();
        let proxy = match network {
            Network::None => None,
            Network::Proxy(credentials) => Some(credentials),
        };
        Self {
            workspaces: all(workspaces),
            readable: all(readable),
            shown: all(shown),
            changed: all(changed),
            home: home.map(PathBuf::into_os_string),
            state: state.map(PathBuf::into_os_string),
            own: own.map(PathBuf::into_os_string),
            proxy,
            limits,
            needed,
            without,
            maker,
            words,
            directory: directory.into_os_string(),
            environment,
            speaks: false,
        }
    }

    pub(super) fn read(self) -> (Cage, Inmate) {
        let all = |paths: Vec<OsString>| paths.into_iter().map(PathBuf::from).collect();
        let cage = Cage {
            workspaces: all(self.workspaces),
            readable: all(self.readable),
            shown: all(self.shown),
            changed: all(self.changed),
            home: self.home.map(PathBuf::from),
            state: self.state.map(PathBuf::from),
            own: self.own.map(PathBuf::from),
            network: self.proxy.map_or(Network::None, Network::Proxy),
            limits: self.limits,
            needed: self.needed,
            without: self.without,
            maker: self.maker,
            belongings: Vec::new(),
            lines: Vec::new(),
        };
        let inmate = Inmate {
            words: self.words,
            directory: self.directory.into(),
            environment: self.environment,
            terminal: false,
        };
        (cage, inmate)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_told_is_what_was_meant_also_where_it_is_no_text() {
        let odd = || OsString::from_vec(vec![b'/', 0xff, b'\n']);
        let cage = Cage {
            workspaces: vec![odd().into()],
            readable: vec!["/r".into()],
            shown: vec!["/s".into()],
            changed: vec!["/c".into()],
            home: Some(odd().into()),
            state: Some("/state".into()),
            own: Some("/state/own".into()),
            network: Network::Proxy("a:b".to_owned()),
            limits: Limits { wall_time: Some(Duration::from_millis(1500)), ..Limits::default() },
            needed: vec![Rung::Seccomp],
            without: vec![Rung::Cgroup],
            maker: Maker::Own,
            belongings: Vec::new(),
            lines: Vec::new(),
        };
        let inmate = Inmate {
            words: vec![odd(), "-c".into()],
            directory: odd().into(),
            environment: vec![("A".into(), odd())],
            terminal: false,
        };
        let told = serde_json::to_vec(&Order::of(&cage, &inmate)).unwrap();
        let order: Order = serde_json::from_slice(&told).unwrap();
        assert!(!order.speaks() && Order::of(&cage, &inmate).speaking().speaks());
        assert_eq!(order.read(), (cage, inmate));
    }
}
