//! What carries out the host's own actions: one small file per family.
//!
//! INVARIANT (OneGate): whatever is done here is done by spending a permit.
//!
//! INVARIANT (EveryActionHasAnExecutor): [`Granted`] is closed and made from the list of actions, so
//! that an action which nobody carries out does not compile:
//!
//! ```compile_fail,E0004
//! fn execute(granted: monitor::Granted) -> monitor::Output {
//!     match granted {
//!         monitor::Granted::SkillList(_) => monitor::Output::not_begun("there are no skills"),
//!     }
//! }
//! ```

mod absent;
mod audit;
mod file;
mod memory;
mod net;
mod scheduler;
mod shell;
mod skills;

use std::path::PathBuf;
use std::sync::Arc;

use browser::Browsers;
use egress::{Rules, Web};
use evidence::Clock;
use model::Effect;
use model::ipc::{ActionName, MessageOut};
use model::provider::ProviderKind;
use monitor::{Executor, Granted, Output, Permit};
use serde_json::json;
use store::Memory;

use crate::models::{Desk, Models};
use crate::services::Services;

use absent::absent;
use audit::Evidence;

use crate::scheduler::Scheduler;
use crate::skills::Skills;

pub use audit::AUDIT_RESULTS_DEFAULT;
pub use file::{FILE_BYTES_MAX, WorkspaceFiles};
pub use shell::Shell;

/// Carries out what was permitted.
///
/// Memory and evidence are really there, and the web, services, browsers, skills, commands and a scheduler where they
/// were given, and models. What needs a provider that is not there is answered with an error that says which one is missing, and
/// never with something made up.
pub struct HostExecutor {
    memory: Arc<dyn Memory>,
    evidence: Evidence,
    clock: Arc<dyn Clock>,
    web: Option<(Web, Rules)>,
    services: Option<Services>,
    browsers: Option<Browsers>,
    files: Option<WorkspaceFiles>,
    skills: Option<Skills>,
    scheduler: Option<Scheduler>,
    shell: Option<Shell>,
    models: Option<Arc<Desk>>,
}

impl HostExecutor {
    /// With this memory, and the journal in `journal_dir` to look things up in.
    pub fn new(
        memory: Arc<dyn Memory>,
        journal_dir: impl Into<PathBuf>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            memory,
            evidence: Evidence::new(journal_dir.into()),
            clock,
            web: None,
            services: None,
            browsers: None,
            files: None,
            skills: None,
            scheduler: None,
            shell: None,
            models: None,
        }
    }

    /// With language models.
    #[must_use]
    pub fn with_models(mut self, models: &Models) -> Self {
        self.models = Some(models.desk());
        self
    }

    /// With work at set times.
    #[must_use]
    pub fn with_scheduler(mut self, scheduler: Scheduler) -> Self {
        self.scheduler = Some(scheduler);
        self
    }

    /// With commands that run in a cage.
    #[must_use]
    pub fn with_shell(mut self, shell: Shell) -> Self {
        self.shell = Some(shell);
        self
    }

    /// With skills.
    #[must_use]
    pub fn with_skills(mut self, skills: Skills) -> Self {
        self.skills = Some(skills);
        self
    }

    /// With a way to the web, as far as `rules` go.
    #[must_use]
    pub fn with_web(mut self, web: Web, rules: Rules) -> Self {
        self.web = Some((web, rules));
        self
    }

    /// With services that may be called in the user's name.
    #[must_use]
    pub fn with_services(mut self, services: Services) -> Self {
        self.services = Some(services);
        self
    }

    /// With browsers. They end with this.
    #[must_use]
    pub fn with_browsers(mut self, browsers: Browsers) -> Self {
        self.browsers = Some(browsers);
        self
    }

    /// With the files of a workspace.
    #[must_use]
    pub fn with_files(mut self, files: WorkspaceFiles) -> Self {
        self.files = Some(files);
        self
    }

    /// Is there somebody to carry out this action? What is said by its executor, where there is none.
    #[must_use]
    pub fn carries_out(&self, action: ActionName) -> bool {
        use ActionName as A;
        match action {
            // What the loop of an agent does itself is no tool for its model.
            A::LlmCall | A::MessageOut => false,
            A::MemoryWrite | A::MemoryQuery | A::MemoryRead | A::MemoryDelete | A::MemoryList => {
                true
            }
            A::AuditQuery => true,
            A::WebFetch | A::WebSearch => self.web.is_some(),
            A::BrowserLaunch
            | A::BrowserNavigate
            | A::BrowserSnapshot
            | A::BrowserClick
            | A::BrowserType
            | A::BrowserScreenshot
            | A::BrowserClose => self.browsers.is_some(),
            A::SkillPropose | A::SkillRead | A::SkillList => self.skills.is_some(),
            A::OauthCall => self.services.is_some(),
            A::SchedulerListCron
            | A::SchedulerGetHeartbeat
            | A::SchedulerListTriggers
            | A::SchedulerRemoveCron
            | A::SchedulerAddCron
            | A::SchedulerRunAt => self.scheduler.is_some(),
            A::FileRead | A::FileWrite | A::FileEdit | A::FileList | A::FileSearch => {
                self.files.is_some()
            }
            A::ShellExec => self.shell.is_some() && self.files.is_some(),
        }
    }

    /// Does something on the web, if there is a way to it.
    fn web(&self, act: impl FnOnce(&(Web, Rules)) -> Output) -> Output {
        self.web.as_ref().map_or_else(|| absent(ProviderKind::Web), act)
    }

    fn skills(&self, act: impl FnOnce(&Skills, i64) -> Output) -> Output {
        match &self.skills {
            Some(skills) => act(skills, self.clock.unix_seconds()),
            None => absent(ProviderKind::Skills),
        }
    }

    fn jobs(&self, act: impl FnOnce(&Scheduler, i64) -> Output) -> Output {
        match &self.scheduler {
            Some(scheduler) => act(scheduler, self.clock.unix_seconds()),
            None => absent(ProviderKind::Scheduler),
        }
    }

    /// Does something with a browser, if there are any.
    fn browse(&self, act: impl FnOnce(&Browsers) -> Output) -> Output {
        self.browsers.as_ref().map_or_else(|| absent(ProviderKind::Browser), act)
    }

    fn in_workspace(&self, act: impl FnOnce(&WorkspaceFiles, i64) -> Output) -> Output {
        match &self.files {
            Some(files) => act(files, self.clock.unix_seconds()),
            None => Output::not_begun("this session has no workspace"),
        }
    }
}

impl Executor for HostExecutor {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let memory = &*self.memory;
        match permit.by_kind() {
            Granted::MemoryWrite(permit) => {
                memory::write(memory, permit, self.clock.unix_seconds())
            }
            Granted::MemoryQuery(permit) => memory::query(memory, permit),
            Granted::MemoryRead(permit) => memory::read(memory, permit),
            Granted::MemoryDelete(permit) => memory::delete(memory, permit),
            Granted::MemoryList(permit) => memory::list(memory, permit),
            Granted::AuditQuery(permit) => self.evidence.query(permit),
            Granted::LlmCall(permit) => match &self.models {
                Some(models) => models.call(permit),
                None => absent(ProviderKind::Llm),
            },
            Granted::WebFetch(permit) => self.web(|(web, rules)| web.fetch(permit, rules)),
            Granted::WebSearch(permit) => self.web(|(web, rules)| web.search(permit, rules)),
            Granted::BrowserLaunch(permit) => self.browse(|it| it.launch(permit)),
            Granted::BrowserNavigate(permit) => self.browse(|it| it.navigate(permit)),
            Granted::BrowserSnapshot(permit) => self.browse(|it| it.snapshot(permit)),
            Granted::BrowserClick(permit) => self.browse(|it| it.click(permit)),
            Granted::BrowserType(permit) => self.browse(|it| it.type_text(permit)),
            Granted::BrowserScreenshot(permit) => self.browse(|it| it.screenshot(permit)),
            Granted::BrowserClose(permit) => self.browse(|it| it.end(permit)),
            Granted::SkillPropose(permit) => {
                self.skills(|it, now| skills::propose(it, permit, now))
            }
            Granted::SkillRead(permit) => self.skills(|it, _| skills::read(it, permit)),
            Granted::SkillList(permit) => self.skills(|it, _| skills::list(it, permit)),
            Granted::OauthCall(permit) => match &self.services {
                Some(services) => services.call(permit),
                None => absent(ProviderKind::Credentials),
            },
            Granted::SchedulerListCron(permit) => self.jobs(|it, _| scheduler::list(it, permit)),
            Granted::SchedulerGetHeartbeat(permit) => {
                self.jobs(|it, _| scheduler::heartbeat(it, permit))
            }
            Granted::SchedulerListTriggers(permit) => {
                self.jobs(|it, now| scheduler::triggers(it, permit, now))
            }
            Granted::SchedulerRemoveCron(permit) => {
                self.jobs(|it, _| scheduler::remove(it, permit))
            }
            Granted::SchedulerAddCron(permit) => {
                self.jobs(|it, now| scheduler::add_cron(it, permit, now))
            }
            Granted::SchedulerRunAt(permit) => {
                self.jobs(|it, now| scheduler::run_at(it, permit, now))
            }
            Granted::FileRead(permit) => self.in_workspace(|files, now| files.read(permit, now)),
            Granted::FileWrite(permit) => self.in_workspace(|files, now| files.write(permit, now)),
            Granted::FileEdit(permit) => self.in_workspace(|files, now| files.edit(permit, now)),
            Granted::FileList(permit) => self.in_workspace(|files, _| files.list(permit)),
            Granted::FileSearch(permit) => {
                self.in_workspace(|files, now| files.search(permit, now))
            }
            Granted::ShellExec(permit) => match &self.shell {
                Some(shell) => {
                    let now = || self.clock.unix_seconds();
                    self.in_workspace(|files, _| shell.run(permit, files, now))
                }
                None => absent(ProviderKind::Shell),
            },
            // Whoever runs the agent shows it: the answer to this call says that they may.
            Granted::MessageOut(permit) => said(&permit.spend()),
            Granted::Message(_) => Output::not_begun("a message is taken in by the gate itself"),
            Granted::Tool(_) => Output::not_begun("tools of others are not run by the host"),
        }
    }
}

/// How much was said.
fn said(message: &MessageOut) -> Output {
    Output::text(json!({ "bytes": message.text.as_str().len() }).to_string())
}
