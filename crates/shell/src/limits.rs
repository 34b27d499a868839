//! How much is read. What is larger is a question for a person, never allowed unseen.

/// The longest command, in bytes.
pub(super) const COMMAND_BYTES_MAX: usize = 64 << 10;
/// Commands in commands, in levels.
pub(super) const DEPTH_MAX: usize = 48;
/// Parts of one text: words, commands, expansions.
pub(super) const NODES_MAX: usize = 20_000;
/// Simple commands that are looked at, loops and texts that become commands included.
pub(super) const COMMANDS_MAX: usize = 1_500;
/// Characters that are made while words are expanded, in bytes.
pub(super) const MADE_BYTES_MAX: usize = 1 << 18;
/// One value or one output, in bytes.
pub(super) const VALUE_BYTES_MAX: usize = 64 << 10;
/// Arguments that one command can have.
pub(super) const FIELDS_MAX: usize = 4_096;
/// Arguments of all commands together, those of commands that run others again and again.
pub(super) const HANDLED_MAX: usize = 64 << 10;
/// Turns of one loop whose list is known.
pub(super) const TURNS_MAX: usize = 512;
/// Turns of all loops together.
pub(super) const ALL_TURNS_MAX: usize = 4_096;
/// The longest normal form, in bytes.
pub(super) const NORMAL_BYTES_MAX: usize = 64 << 10;
/// Texts that became commands and are read by all parsers.
pub(super) const READ_AGAIN_MAX: usize = 128;
/// Their size together, in bytes.
pub(super) const READ_AGAIN_BYTES_MAX: usize = 128 << 10;
/// Texts in code of other languages that are tried as commands.
pub(super) const PROBES_MAX: usize = 96;
/// Places and hosts that are named.
pub(super) const TARGETS_MAX: usize = 256;
