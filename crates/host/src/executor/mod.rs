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

mod about;
mod absent;
mod audit;
mod delegates;
mod file;
mod memory;
mod net;
mod notes;
mod plugins;
mod query;
mod scheduler;
mod shell;
mod skills;

use std::path::PathBuf;
use std::sync::Arc;

use browser::Browsers;
use egress::{Rules, Web};
use evidence::Clock;
use model::ipc::{ActionName, LlmCall, MessageOut, ModelQuery, OauthCall, ShellExec};
use model::provider::ProviderKind;
use model::{Effect, ToolCall, ToolDef};
use monitor::{Executor, Granted, Output, Permit};
use serde_json::json;
use store::Memory;

use crate::models::{Desk, Models, Payer};
use crate::services::Services;
use crate::tool_servers::ToolServers;

use absent::absent;
use audit::Evidence;
use delegates::nobody;

use crate::scheduler::Scheduler;
use crate::skills::Skills;

pub use audit::AUDIT_RESULTS_DEFAULT;
pub(crate) use delegates::Delegates;
pub use file::{FILE_BYTES_MAX, WorkspaceFiles};
pub(crate) use plugins::{Given, Offers, PluginTools, marked};
pub use shell::Shell;

pub(crate) use about::About;
pub(crate) use query::{Asker, Questions, question, words};

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
    payer: Option<Payer>,
    delegates: Option<Arc<dyn Delegates>>,
    plugins: Option<PluginTools>,
    servers: ToolServers,
    asker: Option<Asker>,
    about: Option<About>,
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
            payer: None,
            delegates: None,
            plugins: None,
            servers: ToolServers::default(),
            asker: None,
            about: None,
        }
    }

    /// With language models.
    #[must_use]
    pub fn with_models(mut self, models: &Models) -> Self {
        self.models = Some(models.desk());
        self
    }

    /// With somebody who pays for what its agent asks models.
    #[must_use]
    pub(crate) fn paid_by(self, payer: Payer) -> Self {
        Self { payer: Some(payer), ..self }
    }

    /// With somebody to whom work can be handed.
    #[must_use]
    pub(crate) fn with_delegates(mut self, delegates: Arc<dyn Delegates>) -> Self {
        self.delegates = Some(delegates);
        self
    }

    /// With tools of plugins.
    #[must_use]
    pub(crate) fn with_plugins(mut self, plugins: PluginTools) -> Self {
        self.plugins = Some(plugins);
        self
    }

    /// With tools of servers that the manifest names.
    #[must_use]
    pub(crate) fn with_servers(mut self, servers: ToolServers) -> Self {
        self.servers = servers;
        self
    }

    /// The tools of plugins and servers.
    pub(crate) fn tools_of_others(&self) -> impl Iterator<Item = &ToolDef> {
        let plugins = self.plugins.iter().flat_map(|it| it.offers().definitions());
        plugins.chain(self.servers.definitions())
    }

    /// Has a plugin or a server this tool?
    pub(crate) fn has_tool(&self, tool: &str) -> bool {
        self.plugins.as_ref().is_some_and(|it| it.offers().has(tool)) || self.servers.has(tool)
    }

    /// The services that may be called, by their names.
    pub(crate) fn services(&self) -> Vec<&str> {
        self.services.as_ref().map(Services::names).unwrap_or_default()
    }

    /// With somebody who asks models for the session.
    #[must_use]
    pub(crate) fn with_asker(mut self, asker: Asker) -> Self {
        self.asker = Some(asker);
        self
    }

    /// With the files that say what the agent is.
    #[must_use]
    pub(crate) fn with_about(mut self, about: About) -> Self {
        self.about = Some(about);
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
            A::TaskList | A::TaskAdd | A::TaskClose => true,
            A::ScratchWrite | A::ScratchRead | A::ScratchList => true,
            A::AuditQuery | A::CurrentTime => true,
            A::PromptRead | A::ToolsRead => self.about.is_some(),
            A::ModelQuery => self.asker.is_some(),
            A::WebFetch | A::WebSearch => self.web.is_some(),
            A::BrowserLaunch
            | A::BrowserNavigate
            | A::BrowserSnapshot
            | A::BrowserClick
            | A::BrowserType
            | A::BrowserScreenshot
            | A::BrowserClose => self.browsers.is_some(),
            A::SkillPropose | A::SkillRead | A::SkillList => self.skills.is_some(),
            A::OauthCall => !self.services().is_empty(),
            A::SchedulerListCron
            | A::SchedulerGetHeartbeat
            | A::SchedulerListTriggers
            | A::SchedulerRemoveCron
            | A::SchedulerAddCron
            | A::SchedulerRunAt => self.scheduler.is_some(),
            A::FileRead | A::FileWrite | A::FileEdit | A::FileList | A::FileSearch => {
                self.files.is_some()
            }
            A::AgentDelegate | A::AgentCollect => {
                self.delegates.as_ref().is_some_and(|it| it.has_sub_agents())
            }
            A::ShellExec => self.shell.is_some() && self.files.is_some(),
        }
    }

    /// Does something on the web, if there is a way to it.
    fn web(&self, act: impl FnOnce(&(Web, Rules)) -> Output) -> Output {
        self.web.as_ref().map_or_else(|| absent(ProviderKind::Web), act)
    }

    fn skills(&self, act: impl FnOnce(&Skills) -> Output) -> Output {
        self.skills.as_ref().map_or_else(|| absent(ProviderKind::Skills), act)
    }

    fn jobs(&self, act: impl FnOnce(&Scheduler) -> Output) -> Output {
        self.scheduler.as_ref().map_or_else(|| absent(ProviderKind::Scheduler), act)
    }

    fn model(&self, permit: Permit<LlmCall>) -> Output {
        let payer = self.payer.as_ref();
        self.models.as_ref().map_or_else(|| absent(ProviderKind::Llm), |it| it.call(permit, payer))
    }

    fn question(&self, permit: Permit<ModelQuery>) -> Output {
        self.asker.as_ref().map_or_else(|| absent(ProviderKind::Llm), |it| it.answer(permit))
    }

    fn service(&self, permit: Permit<OauthCall>) -> Output {
        let none = || absent(ProviderKind::Credentials);
        self.services.as_ref().map_or_else(none, |it| it.call(permit))
    }

    fn command(&self, permit: Permit<ShellExec>) -> Output {
        let Some(shell) = &self.shell else { return absent(ProviderKind::Shell) };
        let now = || self.clock.unix_seconds();
        self.in_workspace(|files, _| shell.run(permit, files, now))
    }

    fn itself(&self, act: impl FnOnce(&About) -> Output) -> Output {
        self.about.as_ref().map_or_else(about::unknown, act)
    }

    fn tool(&self, permit: Permit<ToolCall>) -> Output {
        let tool = permit.effect().call.tool().as_str();
        match &self.plugins {
            Some(plugins) if plugins.offers().has(tool) => {
                plugins.call(permit, || self.clock.unix_seconds())
            }
            Some(_) | None if self.servers.has(tool) => self.servers.call(permit),
            Some(_) | None => Output::not_begun("tools of others are not run by the host"),
        }
    }

    fn hand_on(&self, act: impl FnOnce(&dyn Delegates) -> Output) -> Output {
        self.delegates.as_deref().map_or_else(nobody, act)
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
        let (memory, now) = (&*self.memory, self.clock.unix_seconds());
        match permit.by_kind() {
            Granted::MemoryWrite(it) => memory::write(memory, it, now),
            Granted::MemoryQuery(it) => memory::query(memory, it),
            Granted::MemoryRead(it) => memory::read(memory, it),
            Granted::MemoryDelete(it) => memory::delete(memory, it),
            Granted::MemoryList(it) => memory::list(memory, it),
            Granted::TaskList(it) => notes::list_tasks(memory, it),
            Granted::TaskAdd(it) => notes::add_task(memory, it, now),
            Granted::TaskClose(it) => notes::close_task(memory, it, now),
            Granted::ScratchWrite(it) => notes::write_note(memory, it, now),
            Granted::ScratchRead(it) => notes::read_note(memory, it),
            Granted::ScratchList(it) => notes::list_notes(memory, it),
            Granted::AuditQuery(it) => self.evidence.query(it),
            Granted::CurrentTime(it) => about::time(it, now),
            Granted::PromptRead(it) => self.itself(|about| about.instructions(it)),
            Granted::ToolsRead(it) => self.itself(|of| of.tools(it, |name| self.carries_out(name))),
            Granted::LlmCall(it) => self.model(it),
            Granted::ModelQuery(it) => self.question(it),
            Granted::WebFetch(it) => self.web(|(web, rules)| web.fetch(it, rules)),
            Granted::WebSearch(it) => self.web(|(web, rules)| web.search(it, rules)),
            Granted::BrowserLaunch(it) => self.browse(|browsers| browsers.launch(it)),
            Granted::BrowserNavigate(it) => self.browse(|browsers| browsers.navigate(it)),
            Granted::BrowserSnapshot(it) => self.browse(|browsers| browsers.snapshot(it)),
            Granted::BrowserClick(it) => self.browse(|browsers| browsers.click(it)),
            Granted::BrowserType(it) => self.browse(|browsers| browsers.type_text(it)),
            Granted::BrowserScreenshot(it) => self.browse(|browsers| browsers.screenshot(it)),
            Granted::BrowserClose(it) => self.browse(|browsers| browsers.end(it)),
            Granted::SkillPropose(it) => self.skills(|all| skills::propose(all, it, now)),
            Granted::SkillRead(it) => self.skills(|all| skills::read(all, it)),
            Granted::SkillList(it) => self.skills(|all| skills::list(all, it)),
            Granted::OauthCall(it) => self.service(it),
            Granted::SchedulerListCron(it) => self.jobs(|jobs| scheduler::list(jobs, it)),
            Granted::SchedulerGetHeartbeat(it) => self.jobs(|jobs| scheduler::heartbeat(jobs, it)),
            Granted::SchedulerListTriggers(it) => {
                self.jobs(|jobs| scheduler::triggers(jobs, it, now))
            }
            Granted::SchedulerRemoveCron(it) => self.jobs(|jobs| scheduler::remove(jobs, it)),
            Granted::SchedulerAddCron(it) => self.jobs(|jobs| scheduler::add_cron(jobs, it, now)),
            Granted::SchedulerRunAt(it) => self.jobs(|jobs| scheduler::run_at(jobs, it, now)),
            Granted::FileRead(it) => self.in_workspace(|files, now| files.read(it, now)),
            Granted::FileWrite(it) => self.in_workspace(|files, now| files.write(it, now)),
            Granted::FileEdit(it) => self.in_workspace(|files, now| files.edit(it, now)),
            Granted::FileList(it) => self.in_workspace(|files, _| files.list(it)),
            Granted::FileSearch(it) => self.in_workspace(|files, now| files.search(it, now)),
            Granted::ShellExec(it) => self.command(it),
            Granted::AgentDelegate(it) => self.hand_on(|to| to.delegate(it)),
            Granted::AgentCollect(it) => self.hand_on(|from| from.collect(it)),
            // Whoever runs the agent shows it: the answer to this call says that they may.
            Granted::MessageOut(it) => said(&it.spend()),
            Granted::Message(_) => Output::not_begun("a message is taken in by the gate itself"),
            Granted::Host(_) => Output::not_begun("a door does this itself"),
            Granted::Tool(permit) => self.tool(permit),
        }
    }
}

/// How much was said. Where to is for the host to say, which has executors of its own for that.
fn said(message: &MessageOut) -> Output {
    if message.to.is_some() {
        return Output::not_begun("an agent does not choose where on a messenger it is heard");
    }
    Output::text(json!({ "bytes": message.text.as_str().len() }).to_string())
}
