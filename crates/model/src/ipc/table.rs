//! The list of actions. Names, types and schemas all come from it, so that none of them can have an
//! action that another lacks. Whoever acts on messages matches on [`Action`], or on the permits that
//! are made of it: both are closed enums, so that an action which nobody handles does not compile.

use serde_json::{Map, Value, json};

use super::action::{
    AuditQuery, BrowserClick, BrowserClose, BrowserLaunch, BrowserNavigate, BrowserScreenshot,
    BrowserSnapshot, BrowserType, FileEdit, FileList, FileRead, FileSearch, FileWrite, LlmCall,
    MemoryDelete, MemoryList, MemoryQuery, MemoryRead, MemoryWrite, OauthCall, SchedulerAddCron,
    SchedulerGetHeartbeat, SchedulerListCron, SchedulerListTriggers, SchedulerRemoveCron,
    SchedulerRunAt, ShellExec, SkillList, SkillPropose, SkillRead, WebFetch, WebSearch,
};
use super::issue::Reader;
use super::shape::{Fields, Property, object_schema, sorted};

/// The field that names the action.
pub(super) const ACTION: &str = "action";

macro_rules! actions {
    ($($name:ident $type:ident $about:literal,)+) => {
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

            /// The name as it stands in messages.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$type => stringify!($name),)+ }
            }

            /// The action with exactly this name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $(stringify!($name) => Some(Self::$type),)+ _ => None }
            }

            /// What it does, in a few words.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$type => $about,)+ }
            }

            fn properties(self) -> Vec<Property> {
                match self { $(Self::$type => $type::properties(),)+ }
            }
        }
    };
}

actions! {
    llm_call LlmCall "ask a language model",
    memory_write MemoryWrite "remember something",
    memory_query MemoryQuery "search the memory",
    memory_read MemoryRead "read one memory entry",
    memory_delete MemoryDelete "forget one memory entry",
    memory_list MemoryList "list memory entries",
    web_fetch WebFetch "fetch a page",
    web_search WebSearch "search the web",
    browser_launch BrowserLaunch "start a browser",
    browser_navigate BrowserNavigate "go to a page",
    browser_snapshot BrowserSnapshot "describe the page as text",
    browser_click BrowserClick "click on an element",
    browser_type BrowserType "type text into an element",
    browser_screenshot BrowserScreenshot "take a picture of the page",
    browser_close BrowserClose "end a browser's session",
    skill_propose SkillPropose "propose a skill, new or changed",
    skill_read SkillRead "read a skill",
    skill_list SkillList "list the skills",
    oauth_call OauthCall "call a service in the user's name",
    scheduler_list_cron SchedulerListCron "list the scheduled jobs",
    scheduler_get_heartbeat SchedulerGetHeartbeat "read the heartbeat's settings",
    scheduler_list_triggers SchedulerListTriggers "list what can set off a job",
    scheduler_remove_cron SchedulerRemoveCron "remove a scheduled job",
    scheduler_add_cron SchedulerAddCron "schedule a job that comes again and again",
    scheduler_run_at SchedulerRunAt "schedule a job that comes once",
    audit_query AuditQuery "search the evidence",
    file_read FileRead "read a file of the workspace",
    file_write FileWrite "write a file of the workspace",
    file_edit FileEdit "change a part of a file of the workspace",
    file_list FileList "list a folder of the workspace",
    file_search FileSearch "search the files of the workspace",
    shell_exec ShellExec "run a command in a cage, in the workspace",
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
