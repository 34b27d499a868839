//! Properties by which a box gets room or none: tracks of a grid, items in a row, boxes that do not look at what is
//! in them.

use super::css::{Part, Token, split, trim};
use super::declare::Switch;
use super::number::{Amount, Kind, amount, length};
use super::value::{called, word};
use super::words;

type Items<'i, 'p, 'a> = &'i [&'p [Part<'a>]];

/// Is it one of these properties?
pub(super) fn is_known(name: &str) -> bool {
    matches!(
        name,
        "grid-template-rows"
            | "grid-template-columns"
            | "grid-auto-rows"
            | "flex"
            | "flex-basis"
            | "contain"
            | "container-type"
    )
}

/// Tells what `name: value` says, if it is one of these; nothing for what browsers do not know.
pub(super) fn read(
    name: &str,
    items: Items<'_, '_, '_>,
    switch: &mut impl FnMut(Switch, bool),
) -> Option<()> {
    let has = |word: &str| items.iter().any(|it| it.first().is_some_and(|it| it.is_word(word)));
    match name {
        "grid-template-rows" => {
            let (thin, none) = tracks(items);
            switch(Switch::RowsThin, thin);
            switch(Switch::RowsNone, none);
        }
        "grid-auto-rows" => switch(Switch::RowsAutoNone, tracks(items).1),
        "grid-template-columns" => switch(Switch::ColumnsThin, tracks(items).0),
        "flex" => {
            let first = amount(items.first()?);
            let grows = match first {
                Some(grows) => grows.kind == Kind::Plain && grows.value > 0.0,
                None => has("auto"),
            };
            let rest = items.iter().skip(1);
            let based = rest.filter(|it| amount(it).is_none_or(|it| it.kind != Kind::Plain));
            let is_number = first.is_some_and(|it| it.kind == Kind::Plain);
            switch(Switch::Grows, grows);
            switch(Switch::BasisNone, is_number && based.clone().all(|it| is_slit(it)));
        }
        "flex-basis" => {
            let [one] = items else { return None };
            switch(Switch::BasisNone, is_slit(one));
        }
        "contain" => {
            let all: Option<Vec<String>> =
                items.iter().map(|it| word(it, words::CONTAINS)).collect();
            let all = all?;
            let any = |words: &[&str]| all.iter().any(|it| words.contains(&it.as_str()));
            switch(Switch::Contained, any(&["paint", "strict", "content"]));
            switch(Switch::Sizeless, any(&["size", "strict"]));
        }
        _ => switch(Switch::SizelessContainer, has("size")),
    }
    Some(())
}

/// Properties that say how large a box is: does one hide, or keep it open?
pub(super) fn size(name: &str, items: &[&[Part<'_>]], old: bool) -> Option<bool> {
    let one = || if let [one] = items { Some(*one) } else { None };
    match name {
        _ if name.starts_with("max-") && is_of_auto(one()?) => None,
        "width" | "inline-size" | "height" | "block-size" | "max-width" | "max-inline-size"
        | "max-height" | "max-block-size" => {
            box_size(one()?, old).map(|it| it.is_some_and(is_slit_long))
        }
        "min-width" | "min-inline-size" | "min-height" | "min-block-size" => {
            box_size(one()?, old).map(|it| it.is_some_and(|it| it.value > SLIT_PIXELS))
        }
        _ => None,
    }
}

/// A length of a box; `None` in it for a word such as `auto`.
fn box_size(item: &[Part<'_>], old: bool) -> Option<Option<Amount>> {
    match length(item, old) {
        Some(it) => (it.value >= 0.0 || it.letters != 0.0).then_some(Some(it)),
        None => word(item, words::SIZES).map(|_| None),
    }
}

/// `calc-size(auto, …)`, which a limit does not know.
fn is_of_auto(item: &[Part<'_>]) -> bool {
    let basis = called(item).filter(|it| it.0 == "calc-size").map(|it| trim(it.1));
    basis.and_then(<[_]>::first).is_some_and(|it| it.is_word("auto"))
}

fn is_slit(item: &[Part<'_>]) -> bool {
    length(item, false).is_some_and(is_slit_long)
}

fn is_slit_long(long: Amount) -> bool {
    long.pixels().abs() <= SLIT_PIXELS
}

/// Are all tracks without room if what is in them asks for none, and whatever it asks for?
fn tracks(items: Items<'_, '_, '_>) -> (bool, bool) {
    let is_share = |it: &[Part<'_>]| {
        matches!(it.first().map(|it| &it.token),
            Some(Token::Length(value, unit)) if *value == 0.0 && unit == "fr")
    };
    let none = |it: &&[Part<'_>]| match called(it) {
        Some((name, inside)) => {
            let all = |it: &[Part<'_>]| is_slit(trim(it)) || is_share(trim(it));
            name == "minmax" && split(inside, ',').all(all)
        }
        None => is_slit(it),
    };
    let thin = |it: &&[Part<'_>]| none(it) || is_share(it);
    (!items.is_empty() && items.iter().all(thin), !items.is_empty() && items.iter().all(none))
}

/// In a box that is no wider or higher nobody reads anything.
const SLIT_PIXELS: f64 = 8.0;
