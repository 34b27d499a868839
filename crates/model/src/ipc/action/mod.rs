//! What each action carries: one file per family. The list of actions is in `table.rs`.

mod agent;
mod audit;
mod browser;
mod file;
mod introspection;
mod llm;
mod memory;
mod message;
mod oauth;
mod scheduler;
mod scratch;
mod shell;
mod skill;
mod task;
mod web;

pub use agent::{AgentCollect, AgentDelegate};
pub use audit::{AuditFilter, AuditQuery};
pub use browser::{
    BrowserClick, BrowserClose, BrowserConfig, BrowserLaunch, BrowserNavigate, BrowserScreenshot,
    BrowserSession, BrowserSnapshot, BrowserType, ElementRef, Viewport,
};
pub use file::{FileEdit, FileList, FilePath, FileRead, FileSearch, FileWrite};
pub use introspection::{CurrentTime, PromptRead, ToolsRead};
pub use llm::{
    Effort, LlmCall, ModelQuery, OfferedTool, Role, TextBlock, ToolResultBlock, ToolUseBlock, Turn,
    TurnBlock, TurnContent,
};
pub use memory::{MemoryDelete, MemoryKind, MemoryList, MemoryQuery, MemoryRead, MemoryWrite};
pub use message::MessageOut;
pub use oauth::{OauthCall, OauthMethod};
pub use scheduler::{
    Delivery, DeliveryAddress, DeliveryIdentifiers, DeliveryMode, DeliveryScope, DeliveryTarget,
    SchedulerAddCron, SchedulerGetHeartbeat, SchedulerListCron, SchedulerListTriggers,
    SchedulerRemoveCron, SchedulerRunAt,
};
pub use scratch::{ScratchList, ScratchRead, ScratchWrite};
pub use shell::ShellExec;
pub use skill::{SkillList, SkillPropose, SkillRead};
pub use task::{TaskAdd, TaskClose, TaskEnd, TaskList};
pub use web::{FetchMethod, WebFetch, WebSearch};
