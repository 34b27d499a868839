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
/// What programs read and print that only turn text into text, all together, in bytes.
pub(super) const TURNED_BYTES_MAX: usize = 512 << 10;
/// Letters of one set of `tr`.
pub(super) const SET_LETTERS_MAX: usize = 4_096;
/// Letters of all words that the braces of one word stand for.
pub(super) const BRACED_LETTERS_MAX: usize = 128 << 10;
/// Arguments that one command can have, and items of one list.
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
/// Literals of one piece of code: what may be the name of a place or a host.
pub(super) const LITERALS_MAX: usize = 4_096;
/// Those of them that are tried as commands.
pub(super) const TRIED_LITERALS_MAX: usize = 64;
/// Places and hosts that are named.
pub(super) const TARGETS_MAX: usize = 256;
/// Acts that are named.
pub(super) const ACTS_MAX: usize = 64;
/// Programs and commands that are told.
pub(super) const TOLD_MAX: usize = 256;
/// Ways to read which of its words tell one program what to do.
pub(super) const WAYS_MAX: usize = 256;
/// A function that calls itself, in levels.
pub(super) const CALLS_MAX: usize = 6;
/// Texts of one piece of code.
pub(super) const TEXTS_MAX: usize = 32;
/// What is decoded for one piece of code, in bytes.
pub(super) const DECODED_BYTES_MAX: usize = 128 << 10;
/// The longest word that tells a program what to do, in bytes.
pub(super) const WORD_BYTES_MAX: usize = 64;
/// Words that a program may be told in a row.
pub(super) const TOLD_WORDS_MAX: usize = 4;
/// A program that runs a program that runs a program, in levels.
pub(super) const RUNS_MAX: usize = 4;
/// How many names may stand for one another, one after the other.
pub(super) const REFERENCES_MAX: usize = 8;
/// Opening braces of one word.
pub(super) const BRACES_MAX: usize = 64;
/// Braces in braces, in levels.
pub(super) const BRACE_LEVELS_MAX: usize = 16;
/// Programs that run more than this are not looked at one by one.
pub(super) const EXPRESSIONS_MAX: usize = 64;
/// Steps of one text that are kept.
pub(super) const KEPT_STEPS_MAX: usize = 2_000;
/// A compiled pattern, in bytes.
pub(super) const PATTERN_BYTES_MAX: usize = 1 << 18;
/// Words of one command that are tried.
pub(super) const TRIES_MAX: usize = 16;
/// Code in code, in levels.
pub(super) const LAYERS_MAX: usize = 3;
/// Texts that were hidden, of one command.
pub(super) const REVEALED_MAX: usize = 64;
/// Letters of a value that patterns are tried on, one place after the other.
pub(super) const TRIED_LETTERS_MAX: usize = 512;
/// Steps of the comparisons that belong together.
pub(super) const MATCH_STEPS_MAX: usize = 100_000;
