//! The list of actions: one row for each. Names, types, schemas, permits and what is known of an action before it is
//! looked at all come from it, so that none of them can have an action that another lacks. Whoever acts on messages matches on [`Action`], or on the permits that
//! are made of it: both are closed enums, so that an action which nobody handles does not compile.

use serde_json::{Map, Value, json};

use super::action::{
    AgentCollect, AgentDelegate, AuditQuery, BrowserClick, BrowserClose, BrowserLaunch,
    BrowserNavigate, BrowserScreenshot, BrowserSnapshot, BrowserType, CurrentTime, FileEdit,
    FileList, FileRead, FileSearch, FileWrite, LlmCall, MemoryDelete, MemoryList, MemoryQuery,
    MemoryRead, MemoryWrite, MessageOut, ModelQuery, OauthCall, PromptRead, SchedulerAddCron,
    SchedulerGetHeartbeat, SchedulerListCron, SchedulerListTriggers, SchedulerRemoveCron,
    SchedulerRunAt, ScratchList, ScratchRead, ScratchWrite, ShellExec, SkillList, SkillPropose,
    SkillRead, TaskAdd, TaskClose, TaskList, ToolsRead, WebFetch, WebSearch,
};
use super::issue::Reader;
use super::shape::{Fields, Property, object_schema, sorted};
use crate::{EffectKind, Flow, Reach, Role, Shows, Source, Trust};

/// The field that names the action.
pub(super) const ACTION: &str = "action";

/// What an action does beside what its reach says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Also {
    /// Something leaves the user's own systems.
    Egress,
    /// Something is lost that cannot be brought back.
    Destroys,
}

struct Row {
    name: &'static str,
    about: &'static str,
    kind: EffectKind,
    reach: Reach,
    also: &'static [Also],
    roles: &'static [(&'static str, Role)],
    output: Trust,
    shows: Shows,
    source: Source,
}

macro_rules! actions {
    (($dollar:tt) $(
        $name:ident $type:ident $about:literal:
            kind $kind:ident, $reach:ident [$($also:ident)*], roles [$($param:ident $role:ident),*],
            answer $output:ident $shows:ident, from $source:ident;
    )+) => {
        /// A message that was understood: an action and what it carries.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Action {
            $(#[doc = $about] $type($type),)+
        }

        /// The name of an action.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ActionName {
            $(#[doc = $about] $type,)+
        }

        impl Action {
            /// Its name.
            #[must_use]
            pub fn name(&self) -> ActionName {
                match self { $(Self::$type(_) => ActionName::$type,)+ }
            }

            pub(super) fn read(
                name: ActionName,
                fields: Map<String, Value>,
                reader: &mut Reader,
            ) -> Option<Self> {
                match name {
                    $(ActionName::$type => $type::read_fields(fields, reader).map(Self::$type),)+
                }
            }

            fn to_fields(&self) -> Map<String, Value> {
                match self { $(Self::$type(request) => request.to_fields(),)+ }
            }
        }

        impl ActionName {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$type),+];

            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$type => &Row {
                        name: stringify!($name),
                        about: $about,
                        kind: EffectKind::$kind,
                        reach: Reach::$reach,
                        also: &[$(Also::$also),*],
                        roles: &[$((stringify!($param), Role::$role)),*],
                        output: Trust::$output,
                        shows: Shows::$shows,
                        source: Source::$source,
                    },)+
                }
            }

            /// The action with exactly this name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $(stringify!($name) => Some(Self::$type),)+ _ => None }
            }

            fn properties(self) -> Vec<Property> {
                match self { $(Self::$type => $type::properties(),)+ }
            }
        }

        /// Gives the types of all actions to the macro of this name, with commas between them. Whoever needs one of
        /// something for each action takes them from here.
        #[macro_export]
        macro_rules! each_action {
            ($dollar then:ident) => { $dollar then! { $($type),+ } };
        }
    };
}

// A line for what it is; a line for what it does, and what its fields decide; a line for what its answer is worth, what
// form it has, and where it comes from.
actions! { ($)
    // To think, to remember and to open a browser harms nobody whatever it is about: what is thought is the agent's
    // word, and what is remembered keeps its label. So provenance looks at them as it looks at reading.
    llm_call LlmCall "ask a language model":
        kind LlmCall, Read [], roles [messages Content, tools Content],
        answer Untrusted Document, from Agent;
    memory_write MemoryWrite "remember something":
        kind MemoryWrite, Read [], roles [content Content, source Content],
        answer Own Rows, from Agent;
    // What memory gives back carries the tags of its rows.
    memory_query MemoryQuery "search the memory":
        kind MemoryQuery, Read [], roles [query Content],
        answer Trusted Document, from Agent;
    memory_read MemoryRead "read one memory entry":
        kind MemoryRead, Read [], roles [id Target],
        answer Trusted Document, from Agent;
    memory_delete MemoryDelete "forget one memory entry":
        kind MemoryDelete, Write [Destroys], roles [id Target],
        answer Own Rows, from Agent;
    memory_list MemoryList "list memory entries":
        kind MemoryList, Read [], roles [],
        answer Trusted Document, from Agent;
    web_fetch WebFetch "fetch a page":
        kind WebFetch, Read [Egress], roles [url Destination],
        answer Untrusted Document, from Web;
    web_search WebSearch "search the web":
        kind WebSearch, Read [Egress], roles [query Content],
        answer Untrusted Document, from Web;
    browser_launch BrowserLaunch "start a browser":
        kind BrowserLaunch, Read [], roles [],
        answer Own Rows, from Agent;
    browser_navigate BrowserNavigate "go to a page":
        kind BrowserNavigate, Read [Egress], roles [url Destination],
        answer Untrusted Document, from Web;
    browser_snapshot BrowserSnapshot "describe the page as text":
        kind BrowserSnapshot, Read [], roles [],
        answer Untrusted Document, from Web;
    browser_click BrowserClick "click on an element":
        kind BrowserClick, Send [Egress], roles [ref Target],
        answer Untrusted Document, from Web;
    browser_type BrowserType "type text into an element":
        kind BrowserType, Send [Egress], roles [text Content],
        answer Own Rows, from Agent;
    browser_screenshot BrowserScreenshot "take a picture of the page":
        kind BrowserScreenshot, Read [], roles [],
        answer Untrusted Document, from Web;
    browser_close BrowserClose "end a browser's session":
        kind BrowserClose, Read [], roles [],
        answer Own Rows, from Agent;
    skill_propose SkillPropose "propose a skill, new or changed":
        kind SkillPropose, Write [], roles [skill Target, content Content, reason Content],
        answer Own Rows, from Agent;
    skill_read SkillRead "read a skill":
        kind SkillRead, Read [], roles [name Target],
        answer Untrusted Document, from Skill;
    skill_list SkillList "list the skills":
        kind SkillList, Read [], roles [],
        answer Trusted Rows, from Agent;
    oauth_call OauthCall "call a service in the user's name":
        kind OauthCall, Send [Egress], roles [service Destination, path Target, body Content],
        answer Untrusted Rows, from Web;
    scheduler_list_cron SchedulerListCron "list the scheduled jobs":
        kind SchedulerList, Read [], roles [],
        answer Trusted Rows, from Agent;
    scheduler_get_heartbeat SchedulerGetHeartbeat "read the heartbeat's settings":
        kind SchedulerList, Read [], roles [],
        answer Trusted Rows, from Agent;
    scheduler_list_triggers SchedulerListTriggers "list what can set off a job":
        kind SchedulerList, Read [], roles [],
        answer Trusted Rows, from Agent;
    scheduler_remove_cron SchedulerRemoveCron "remove a scheduled job":
        kind SchedulerRemove, Write [Destroys], roles [id Target],
        answer Own Rows, from Agent;
    // What is scheduled is said to the agent again, when nobody looks.
    scheduler_add_cron SchedulerAddCron "schedule a job that comes again and again":
        kind SchedulerAdd, Write [], roles [schedule Content, prompt Content],
        answer Own Rows, from Agent;
    scheduler_run_at SchedulerRunAt "schedule a job that comes once":
        kind SchedulerAdd, Write [], roles [datetime Content, prompt Content],
        answer Own Rows, from Agent;
    // The sub-agent knows where each value came from, as its agent does, and whatever it does is judged by itself. So to
    // hand a task on is looked at as thinking is; what it comes to carries its label.
    agent_delegate AgentDelegate "hand a task to a sub-agent":
        kind AgentDelegate, Read [], roles [task Content, context Content],
        answer Untrusted Document, from Agent;
    agent_collect AgentCollect "take the answers of sub-agents":
        kind AgentCollect, Read [], roles [],
        answer Untrusted Document, from Agent;
    // The question is put as `llm_call`, which is judged by itself.
    model_query ModelQuery "ask a language model one question, without tools":
        kind ModelQuery, Read [], roles [message Content, system Content],
        answer Untrusted Document, from Agent;
    // Tasks and notes are rows of the memory: they are looked at as memory is, and carry their labels.
    task_list TaskList "list things to do":
        kind TaskList, Read [], roles [],
        answer Trusted Document, from Agent;
    task_add TaskAdd "note something to do":
        kind TaskWrite, Read [], roles [text Content],
        answer Own Rows, from Agent;
    // What is closed is listed still, if all is asked for.
    task_close TaskClose "close something to do":
        kind TaskWrite, Read [], roles [],
        answer Own Rows, from Agent;
    scratch_write ScratchWrite "keep a note for this session":
        kind ScratchWrite, Read [], roles [content Content],
        answer Own Rows, from Agent;
    scratch_read ScratchRead "read a note of this session":
        kind ScratchRead, Read [], roles [name Target],
        answer Trusted Document, from Agent;
    scratch_list ScratchList "list the notes of this session":
        kind ScratchRead, Read [], roles [],
        answer Trusted Document, from Agent;
    current_time CurrentTime "tell the date and the time":
        kind Introspect, Read [], roles [],
        answer Trusted Rows, from Agent;
    prompt_read PromptRead "read the agent's own instructions":
        kind Introspect, Read [], roles [],
        answer Trusted Rows, from Agent;
    tools_read ToolsRead "list the agent's own tools":
        kind Introspect, Read [], roles [],
        answer Trusted Rows, from Agent;
    // An answer may be about anything that was read, and naming an address reaches none.
    message_out MessageOut "say something to the user":
        kind MessageOut, Read [], roles [text Content, to Content],
        answer Own Rows, from Agent;
    audit_query AuditQuery "search the evidence":
        kind AuditQuery, Read [], roles [],
        answer Trusted Rows, from Agent;
    // What a file gives back carries the file's label. A page that looks like a list of names is still a page.
    file_read FileRead "read a file of the workspace":
        kind FileRead, Read [], roles [path Target],
        answer Trusted Document, from Agent;
    file_write FileWrite "write a file of the workspace":
        kind FileWrite, Write [], roles [path Target, content Content],
        answer Own Rows, from Agent;
    file_edit FileEdit "change a part of a file of the workspace":
        kind FileWrite, Write [], roles [path Target, old Content, new Content],
        answer Own Rows, from Agent;
    file_list FileList "list a folder of the workspace":
        kind FileRead, Read [], roles [path Target],
        answer Trusted Names, from Agent;
    file_search FileSearch "search the files of the workspace":
        kind FileRead, Read [], roles [query Content, path Target],
        answer Trusted Names, from Agent;
    // A command can do whatever its cage lets it: change, erase, and send where there is a way out. It may print
    // anything; but names of files are mostly what is asked for.
    shell_exec ShellExec "run a command in a cage, in the workspace":
        kind ShellExec, Send [Egress Destroys], roles [command Content, dir Target],
        answer Untrusted Names, from Tool;
}

impl Action {
    /// The message that reads as this action.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut fields = self.to_fields();
        fields.insert(ACTION.to_owned(), self.name().as_str().into());
        sorted(fields)
    }
}

impl ActionName {
    /// The name as it stands in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    /// What it does, in a few words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// The kind of its effect, by which policy knows it.
    #[must_use]
    pub const fn kind(self) -> EffectKind {
        self.row().kind
    }

    /// What form its answer has where others may have written it.
    #[must_use]
    pub const fn shows(self) -> Shows {
        self.row().shows
    }

    /// Where its answer comes from.
    #[must_use]
    pub const fn source(self) -> Source {
        self.row().source
    }

    /// Its flow type: it is seen like any other tool.
    #[must_use]
    pub fn flow(self) -> Flow {
        let row = self.row();
        let roles = row.roles.iter().map(|(name, role)| ((*name).to_owned(), *role)).collect();
        let (egress, destructive) = (Also::Egress, Also::Destroys);
        Flow {
            reach: row.reach,
            output: row.output,
            egress: row.also.contains(&egress),
            destructive: row.also.contains(&destructive),
            roles,
        }
    }

    /// JSON Schema (draft 2020-12) of the action's messages. A message that it refuses is refused;
    /// beyond it, lengths are counted in UTF-16 units, and hosts, ports and days must exist.
    #[must_use]
    pub fn schema(self) -> Value {
        let mut properties = vec![Property::constant(ACTION, self.as_str())];
        properties.extend(self.properties());
        let mut schema = object_schema(properties);
        if let Value::Object(fields) = &mut schema {
            fields.insert("$schema".to_owned(), json!(DRAFT));
            fields.insert("title".to_owned(), json!(self.as_str()));
            fields.insert("description".to_owned(), json!(self.about()));
        }
        schema.sort_all_objects();
        schema
    }
}

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
