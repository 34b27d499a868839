//! What each action carries: one file per family. The list of actions is in `table.rs`.

mod audit;
mod browser;
mod file;
mod llm;
mod memory;
mod oauth;
mod scheduler;
mod shell;
mod skill;
mod web;

pub use audit::{AuditFilter, AuditQuery};
pub use browser::{
    BrowserClick, BrowserClose, BrowserConfig, BrowserLaunch, BrowserNavigate, BrowserScreenshot,
    BrowserSession, BrowserSnapshot, BrowserType, ElementRef, Viewport,
};
pub use file::{FileEdit, FileList, FilePath, FileRead, FileSearch, FileWrite};
pub use llm::{LlmCall, Role, Turn};
pub use memory::{MemoryDelete, MemoryKind, MemoryList, MemoryQuery, MemoryRead, MemoryWrite};
pub use oauth::{OauthCall, OauthMethod};
pub use scheduler::{
    Delivery, DeliveryAddress, DeliveryIdentifiers, DeliveryMode, DeliveryScope, DeliveryTarget,
    SchedulerAddCron, SchedulerGetHeartbeat, SchedulerListCron, SchedulerListTriggers,
    SchedulerRemoveCron, SchedulerRunAt,
};
pub use shell::ShellExec;
pub use skill::{SkillList, SkillPropose, SkillRead};
pub use web::{FetchMethod, WebFetch, WebSearch};
