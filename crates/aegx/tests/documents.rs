//! What documents say of the program `aegx` is so: its commands and options are there, and its examples do what they show.

use testkit::documents::{examples, help, page};

const AEGX: &str = env!("CARGO_BIN_EXE_aegx");

#[test]
fn every_example_does_what_it_shows() {
    let (mut ran, mut wrong) = (0, Vec::new());
    for page in page::pages() {
        let (more, found) = examples::run(&page, "aegx", AEGX);
        ran += more;
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(ran >= 10, "only {ran} examples were run");
}

#[test]
fn every_command_and_option_in_a_document_is_there() {
    let known = help::Known::ask(AEGX);
    let mut wrong = Vec::new();
    for page in page::pages().iter().filter(|it| it.name != "CHANGELOG.md") {
        let blocks = page.blocks();
        let shown = blocks.iter().flat_map(|it| it.lines.iter().map(String::as_str));
        for text in page.spans().into_iter().map(|it| it.1).chain(shown) {
            let why = help::words_behind("aegx", text).and_then(|words| known.wrong(&words));
            wrong.extend(why.map(|why| format!("{}: {text}: {why}", page.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known.has_option("--compat"), "its help was not read");
}

#[test]
fn every_example_of_a_help_text_names_what_is_there() {
    let known = help::Known::ask(AEGX);
    let right = |text: &str| help::words_behind("aegx", text).and_then(|words| known.wrong(&words));
    let wrong: Vec<String> = known.examples().into_iter().filter_map(right).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
