//! Help texts are wrapped once, to the width of the terminal. In the source they are wrapped as well, and examples in
//! them stand as they are: so the lines of a paragraph are put together before `clap` wraps them.

use clap::Command;
use clap::builder::StyledStr;

/// The same command with whole paragraphs in its texts and in those of all below it.
pub(crate) fn flowing(command: Command) -> Command {
    let long = command.get_long_about().map(joined);
    let about = command.get_about().map(joined);
    let after = command.get_after_help().map(joined);
    let mut command = command;
    if let Some(text) = about {
        command = command.about(text);
    }
    if let Some(text) = long {
        command = command.long_about(text);
    }
    if let Some(text) = after {
        command = command.after_help(text);
    }
    command
        .mut_args(|argument| {
            let (help, long) =
                (argument.get_help().map(joined), argument.get_long_help().map(joined));
            let argument = match help {
                Some(text) => argument.help(text),
                None => argument,
            };
            match long {
                Some(text) => argument.long_help(text),
                None => argument,
            }
        })
        .mut_subcommands(flowing)
}

fn joined(text: &StyledStr) -> String {
    paragraphs(&text.to_string())
}

/// A line that goes on with the one before it is put behind it. What is indented, what begins a list, and what follows
/// an empty line stands on its own.
fn paragraphs(text: &str) -> String {
    let mut whole = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        let stands_alone = line.is_empty() || line.starts_with([' ', '-', '*', '|']);
        if !whole.is_empty() {
            whole.push(if goes_on && !stands_alone { ' ' } else { '\n' });
        }
        whole.push_str(line);
        goes_on = !line.is_empty() && !line.starts_with(' ');
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_whole_and_examples_stand_as_they_are() {
        let text = "One\ntwo.\n\nThree:\n  first\n  second\nFour\n- five\n  more\n- six";
        let whole = "One two.\n\nThree:\n  first\n  second\nFour\n- five\n  more\n- six";
        assert_eq!(paragraphs(text), whole);
    }
}
