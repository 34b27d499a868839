//! Our own commands, as they stand in hosts' settings.
//!
//! INVARIANT (PinnedHome): each names the state directory. A project's settings can set variables of an agent's
//! environment, and `LAZARET_HOME` there must not choose another daemon than the user's.

use hooks::Host;

use crate::draft::PlanError;
use crate::remote::Remote;
use crate::shellword::quoted;
use crate::surroundings::Surroundings;

const HOME: &str = "--home";

/// The command by which a host runs our hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookCommand<'a> {
    /// The path of `lazaret-hook`.
    pub(crate) program: &'a str,
    /// The state directory; `None` in what was installed before it was named.
    pub(crate) home: Option<&'a str>,
}

impl<'a> HookCommand<'a> {
    /// Returns the command for these surroundings.
    pub(crate) fn of(around: &'a Surroundings) -> Result<Self, PlanError> {
        let program = around.hook_text();
        let program = program.ok_or_else(|| PlanError::Program { path: around.hook.clone() })?;
        Ok(Self { program, home: Some(home(around)?) })
    }

    /// Returns the arguments for an event of a host.
    pub(crate) fn args(&self, host: Host, event: &'a str) -> Vec<&'a str> {
        let home = self.home.into_iter().flat_map(|it| [HOME, it]);
        [host.as_str(), event].into_iter().chain(home).collect()
    }

    /// Returns program and arguments as one line for a POSIX shell.
    pub(crate) fn line(&self, host: Host, event: &'a str) -> String {
        let args = self.args(host, event);
        let words = std::iter::once(self.program).chain(args).map(quoted);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The command by which a host starts an MCP server through the gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GatewayCommand<'a> {
    /// The path of `lazaret`.
    pub(crate) program: &'a str,
    home: &'a str,
    cages: Cages,
}

/// Which servers run in a cage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cages {
    /// All of them.
    pub(crate) all: bool,
    /// Says what a server would see in one, or why it cannot be caged; without it none can.
    pub(crate) known: Option<CanCage>,
}

/// Says what the server that this line starts would see in a cage, or why it cannot be in one.
pub type CanCage = fn(&[String]) -> Result<String, String>;

/// The option by which a server runs without a cage.
const NO_CAGE: &str = "--no-cage";

impl<'a> GatewayCommand<'a> {
    /// Returns the command for these surroundings.
    pub(crate) fn of(around: &'a Surroundings, cages: Cages) -> Result<Self, PlanError> {
        let program = around.lazaret_text();
        let program = program.ok_or_else(|| PlanError::Program { path: around.lazaret.clone() })?;
        Ok(Self { program, home: home(around)?, cages })
    }

    /// Whether a server runs in a cage, with what it sees there or why not. `was` is what its own line says already.
    pub(crate) fn cage(
        &self,
        line: &[String],
        env: &[String],
        was: Option<bool>,
    ) -> Result<String, String> {
        if self.cages.all {
            return Ok(String::new());
        }
        if let (Some(was), Some(_)) = (was, self.cages.known) {
            let (caged, not) = (String::new(), "its line says so".to_owned());
            return if was { Ok(caged) } else { Err(not) };
        }
        let Some(known) = self.cages.known else { return Err(String::new()) };
        if let Some(name) = env.first() {
            return Err(format!(
                "it is given `{name}`, so that it reaches something that no configuration names"
            ));
        }
        let is_place = |it: &&String| it.starts_with(['/', '~']) || it.contains("://");
        if let Some(place) = line.iter().skip(1).find(is_place) {
            return Err(format!(
                "its line names `{place}`, which it may have to change or to reach"
            ));
        }
        known(line)
    }

    /// Returns the arguments for a server of this name, with these variables, behind which its own line stands.
    pub(crate) fn args(
        &self,
        name: &str,
        env: &[String],
        (line, is_caged): (&[String], bool),
    ) -> Vec<String> {
        let own = ["mcp", HOME, self.home, "--name", name].map(str::to_owned);
        let cage = (!is_caged).then(|| NO_CAGE.to_owned());
        let env = env.iter().flat_map(|it| ["--env".to_owned(), it.clone()]);
        own.into_iter()
            .chain(cage)
            .chain(env)
            .chain(["--".to_owned()])
            .chain(line.iter().cloned())
            .collect()
    }
}

impl GatewayCommand<'_> {
    /// Returns the arguments for a server of this name that is reached at an address.
    pub(crate) fn remote_args(&self, name: &str, remote: &Remote) -> Vec<String> {
        let own = ["mcp", HOME, self.home, "--name", name].map(str::to_owned);
        own.into_iter().chain(remote.args()).collect()
    }
}

/// Reads what [`GatewayCommand::args`] wrote, or wrote before it named the state directory, and returns the line of
/// the server.
pub(crate) fn behind_gateway(args: &[String]) -> Option<&[String]> {
    let mut rest = args.strip_prefix(&["mcp".to_owned()])?;
    let mut is_named = false;
    loop {
        match rest {
            [end, line @ ..] if end == "--" => {
                return Some(line).filter(|it| is_named && !it.is_empty());
            }
            [option, after @ ..] if option == NO_CAGE => rest = after,
            [option, _, after @ ..] if [HOME, "--name", "--env"].contains(&option.as_str()) => {
                is_named |= option == "--name";
                rest = after;
            }
            _ => return None,
        }
    }
}

/// Whether arguments of ours say that the server is in a cage; none in the form that named no state directory: then nobody
/// had chosen.
pub(crate) fn cage_chosen(args: &[String]) -> Option<bool> {
    let has = |option: &str| args.iter().take_while(|it| *it != "--").any(|it| it == option);
    has(HOME).then(|| !has(NO_CAGE))
}

fn home(around: &Surroundings) -> Result<&str, PlanError> {
    around.state_text().ok_or_else(|| PlanError::State { path: around.state.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_hook_names_its_state_directory_as_one_word() {
        let hook = HookCommand { program: "/opt/hook", home: Some("/home/it's me/.lazaret") };
        let line = r"/opt/hook codex Stop --home '/home/it'\''s me/.lazaret'";
        assert_eq!(hook.line(Host::Codex, "Stop"), line);
        let old = HookCommand { home: None, ..hook };
        assert_eq!(old.line(Host::Codex, "Stop"), "/opt/hook codex Stop");
    }

    #[test]
    fn what_is_known_to_run_in_a_cage_does_unless_its_line_says_otherwise() {
        let known: CanCage = |line| match line.first().map(String::as_str) {
            Some("npx") => Ok("its package".to_owned()),
            _ => Err("not known".to_owned()),
        };
        let cages = Cages { all: false, known: Some(known) };
        let gateway = GatewayCommand { program: "/opt/lazaret", home: "/s", cages };
        let cage = |line: &str, env: &str, was| {
            let env: Vec<String> = env.split_whitespace().map(str::to_owned).collect();
            gateway.cage(&words(line), &env, was).is_ok()
        };
        assert!(cage("npx -y @scope/notes .", "", None));
        for (line, env) in [("npx notes", "TOKEN"), ("npx notes /srv", ""), ("srv", "")] {
            assert!(!cage(line, env, None), "{line}");
        }
        assert!(!cage("npx -y fetch https://a.example", "", None));
        // What somebody has chosen stays.
        assert!(!cage("npx notes", "", Some(false)) && cage("srv", "", Some(true)));
        let all = GatewayCommand { cages: Cages { all: true, ..cages }, ..gateway };
        assert!(all.cage(&words("srv /x"), &words("TOKEN"), Some(false)).is_ok());
    }

    #[test]
    fn what_stands_behind_the_gateway_comes_back() {
        let cages = Cages { all: false, known: None };
        let gateway = GatewayCommand { program: "/opt/lazaret", home: "/s", cages };
        let line = words("npx -y -- mcp --name x");
        let args = gateway.args("files", &words("A B"), (&line, true));
        let expected = "mcp --home /s --name files --env A --env B -- npx -y -- mcp --name x";
        assert_eq!(args, words(expected));
        assert_eq!(behind_gateway(&args), Some(line.as_slice()));
        let outside = gateway.args("files", &[], (&line, false));
        assert_eq!((cage_chosen(&args), cage_chosen(&outside)), (Some(true), Some(false)));
        let expected = "mcp --home /s --name files --no-cage -- npx -y -- mcp --name x";
        assert_eq!(outside, words(expected));
        assert_eq!(behind_gateway(&outside), Some(line.as_slice()));
        let old = words("mcp --name files -- npx");
        assert_eq!(cage_chosen(&old), None);
        assert_eq!(behind_gateway(&old), Some(words("npx").as_slice()));
        for other in [
            "mcp -- npx",
            "mcp --name a --",
            "mcp --name a",
            "mcp --name a --cage -- npx",
            "mcp list",
            "serve --name a -- npx",
        ] {
            assert_eq!(behind_gateway(&words(other)), None, "{other}");
        }
    }
}
