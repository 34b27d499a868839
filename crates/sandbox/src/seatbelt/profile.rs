//! The text of a profile.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::quote::{literal, pattern};
use super::{Kind, Network, Policy};

/// What a program needs to start and to end, and nothing by which it reaches another one.
const BASICS: &str = "\
(version 1)
(deny default)
(allow process-exec*)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow user-preference-read)
(allow ipc-posix-shm*)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow mach-lookup)
; keychains, pasteboard, and who starts programs outside of here
(deny mach-lookup
  (global-name \"com.apple.SecurityServer\")
  (global-name \"com.apple.securityd\")
  (global-name \"com.apple.securityd.xpc\")
  (global-name \"com.apple.secd\")
  (global-name \"com.apple.security.agent\")
  (global-name \"com.apple.pasteboard.1\")
  (global-name \"com.apple.coreservices.launchservicesd\")
  (global-name \"com.apple.coreservices.appleevents\")
  (global-name \"com.apple.launchd.peruser\")
  (global-name \"com.apple.tccd\"))
";

/// What may be written by everybody: it keeps nothing.
const SINKS: &str = "\
(allow file-write*
  (literal \"/dev/null\")
  (literal \"/dev/zero\")
  (literal \"/dev/tty\")
  (literal \"/dev/dtracehelper\"))
(allow file-read* file-write* (regex #\"^/dev/ttys[0-9]+$\"))
";

impl Policy {
    /// The profile; none for [`Kind::Off`], where the command is left as it is.
    #[must_use]
    pub fn profile(&self) -> Option<String> {
        if self.kind == Kind::Off {
            return None;
        }
        let mut text = format!(
            "{BASICS}; every file may be read, which the loader needs\n(allow file-read*)\n"
        );
        text.push_str("; but no secret\n");
        rules(&mut text, "deny file-read* file-write*", "subpath", &self.secret_dirs);
        rules(&mut text, "deny file-read* file-write*", "literal", &self.secret_files);
        text.push_str("; but what the operator lets read by name\n");
        rules(&mut text, "allow file-read*", "subpath", &self.readable);
        text.push_str("; what may be written\n");
        text.push_str(SINKS);
        rules(&mut text, "allow file-write*", "subpath", &self.writable);
        let named = self.writable.iter().filter(|it| self.is_secret(it)).cloned().collect();
        rules(&mut text, "allow file-read*", "subpath", &named);
        text.push_str(&self.way_out());
        text.push_str("; what stays as it is, whatever was said\n");
        self.keep(&mut text);
        Some(text)
    }

    /// Does it lie in a place of secrets, or is it one?
    fn is_secret(&self, path: &str) -> bool {
        self.secret_dirs.iter().any(|it| is_within(path, it)) || self.secret_files.contains(path)
    }

    fn way_out(&self) -> String {
        match self.network {
            Network::None => "; no way out\n".to_owned(),
            Network::Proxy(port) => format!(
                "; the one way out\n(allow network-outbound (remote ip \"localhost:{port}\"))\n"
            ),
            Network::All => "; every way out, but no socket of this machine's programs\n\
                (allow network-outbound (remote ip \"*:*\"))\n\
                (allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n\
                (allow network-bind (local ip \"*:*\"))\n\
                (allow network-inbound (local ip \"*:*\"))\n"
                .to_owned(),
        }
    }

    /// Also where a folder above is moved away and another put in its place.
    fn keep(&self, text: &mut String) {
        let secret = self.secret_dirs.iter().chain(&self.secret_files);
        let secret = secret.filter(|it| !self.state.contains(*it));
        let unnamed = secret.filter(|it| !self.writable.iter().any(|place| is_within(place, it)));
        let kept: BTreeSet<&String> = self.kept.iter().chain(unnamed).collect();
        for path in &self.state {
            let _ = writeln!(text, "(deny file-write* (regex {}))", pattern(path));
        }
        rules(text, "allow file-write*", "subpath", &self.own);
        rules(text, "deny file-read* file-write*", "subpath", &self.covered);
        let written = |path: &str| self.writable.iter().any(|it| is_within(path, it));
        let mut above = BTreeSet::new();
        for path in &kept {
            let _ = writeln!(text, "(deny file-write* (regex {}))", pattern(path));
        }
        for path in kept.into_iter().chain(&self.state).chain(&self.covered) {
            let mut folder = path.as_str();
            while let Some((parent, _)) = folder.rsplit_once('/') {
                if parent.is_empty() || !written(parent) {
                    break;
                }
                above.insert(parent.to_owned());
                folder = parent;
            }
        }
        rules(text, "deny file-write-unlink", "literal", &above);
    }
}

/// Is `path` at `place` or below it?
fn is_within(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place.trim_end_matches('/'));
    rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

fn rules(text: &mut String, rule: &str, filter: &str, paths: &BTreeSet<String>) {
    for path in paths {
        let _ = writeln!(text, "({rule} ({filter} {}))", literal(path));
    }
}
