//! The tests of `cli`, in one program: linking one is cheaper than linking many.

mod acts;
mod approvals;
mod browser;
mod check_files;
mod check_ipc;
mod check_shell;
mod check_url;
mod cli;
mod doctor;
mod documents;
mod exec;
mod guide;
mod ipc;
mod messages;
mod policy;
mod providers;
mod proxy_access;
mod replay;
mod shell_calm;
mod shell_exec;
mod shell_network;
mod skill_run;
mod taint;
mod vault;
mod vault_keys;
mod workspace;
