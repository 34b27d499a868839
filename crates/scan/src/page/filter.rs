//! Filters that are drawn in the page, `<filter id=f>`: what they leave of what is seen through them.

use std::collections::HashMap;

use super::colour::{BLACK, Ink};
use super::css::{Token, components, tokens};
use super::items::{Item, Items};
use super::lens::{BLUR_PIXELS, Step};
use super::tree::{Element, Id, Tree};
use super::value::FAINT;

/// What one filter does.
#[derive(Debug)]
pub(super) struct Filter {
    /// Nothing can be read through it.
    pub(super) hides: bool,
    pub(super) steps: Vec<Step>,
}

/// What comes out of one step of a filter.
#[derive(Clone)]
enum Image {
    /// What is seen through it, in other colours perhaps.
    Source(Vec<Step>),
    /// Its form in one colour.
    Shape(Ink),
    /// Nothing of it: a colour all over, or something that is not known.
    Blank(Option<Ink>),
}

type Matrix = [f64; 20];

/// All filters of a page, by name; of several the first counts.
pub(super) fn filters(tree: &Tree) -> HashMap<String, Filter> {
    let mut found = HashMap::new();
    let drawn = tree.elements().filter(|(_, it)| it.is_svg() && &*it.name.local == "filter");
    for (id, element) in drawn.take(FILTERS_MAX) {
        if let Some(name) = element.attribute("id") {
            found.entry(name.to_owned()).or_insert_with(|| filter(tree, id));
        }
    }
    found
}

fn filter(tree: &Tree, id: Id) -> Filter {
    let mut drawing = Drawing { last: Image::Source(Vec::new()), named: HashMap::new() };
    for (id, element) in children(tree, id) {
        let image = drawing.step(tree, id, element);
        if let Some(name) = element.attribute("result") {
            drawing.named.insert(name, image.clone());
        }
        drawing.last = image;
    }
    match drawing.last {
        Image::Source(steps) => Filter { hides: false, steps },
        Image::Shape(ink) => Filter { hides: ink.is_clear(), steps: vec![Step::Paint(ink)] },
        Image::Blank(_) => Filter { hides: true, steps: Vec::new() },
    }
}

fn children(tree: &Tree, id: Id) -> impl Iterator<Item = (Id, &Element)> {
    let first = tree.get(id).and_then(|it| it.first);
    let all = std::iter::successors(first, |it| tree.get(*it)?.after).take(NODES_MAX);
    all.filter_map(|it| Some((it, tree.element(it)?)))
}

struct Drawing<'a> {
    last: Image,
    named: HashMap<&'a str, Image>,
}

impl<'a> Drawing<'a> {
    fn input(&self, element: &Element, name: &str) -> Image {
        match element.attribute(name) {
            Some("SourceGraphic") => Image::Source(Vec::new()),
            Some("SourceAlpha") => Image::Shape(BLACK),
            Some("BackgroundImage" | "BackgroundAlpha" | "FillPaint" | "StrokePaint") => {
                Image::Blank(None)
            }
            Some(named) => self.named.get(named).unwrap_or(&self.last).clone(),
            None => self.last.clone(),
        }
    }

    fn step(&self, tree: &'a Tree, id: Id, element: &Element) -> Image {
        let input = self.input(element, "in");
        let number =
            |name: &str, usual: f64| numbers(element, name).first().copied().unwrap_or(usual);
        let most = |name: &str| numbers(element, name).into_iter().fold(0.0, f64::max);
        let clear = Image::Blank(Some(Ink::CLEAR));
        let flat = |name: &str| numbers(element, name).first() == Some(&0.0);
        if flat("width") || flat("height") {
            return clear;
        }
        match &*element.name.local {
            "feFlood" => Image::Blank(flood(element)),
            "feImage" | "feTurbulence" => Image::Blank(None),
            "feColorMatrix" => matrix_of(element).map_or(input.clone(), |it| input.through(it)),
            "feComponentTransfer" => input.through(transfer(tree, id)),
            "feGaussianBlur" if most("stdDeviation") >= BLUR_PIXELS => input.lost(),
            "feOffset" if number("dy", 0.0).abs() >= DOWN_PIXELS => clear,
            "feOffset" if number("dx", 0.0).abs() >= ACROSS_PIXELS => clear,
            "feMorphology" => match (element.attribute("operator"), most("radius")) {
                (Some("dilate"), radius) if radius >= GROWN_PIXELS => input.lost(),
                (Some("dilate"), _) => input,
                (_, radius) if radius >= WORN_PIXELS => clear,
                (_, _) => input,
            },
            "feMerge" => {
                let nodes = children(tree, id).filter(|it| &*it.1.name.local == "feMergeNode");
                let images = nodes.map(|it| self.input(it.1, "in"));
                images.fold(clear, |below, above| above.over(below))
            }
            "feBlend" => input.over(self.input(element, "in2")),
            "feComposite" => composed(element, input, self.input(element, "in2")),
            "feDisplacementMap" if number("scale", 0.0).abs() >= TORN_PIXELS => input.lost(),
            _ => input,
        }
    }
}

impl Image {
    fn is_solid(&self) -> bool {
        matches!(self, Self::Blank(Some(ink)) if ink.is_solid())
    }

    fn is_clear(&self) -> bool {
        matches!(self, Self::Blank(Some(ink)) | Self::Shape(ink) if ink.is_clear())
    }

    /// So changed that nothing can be read.
    fn lost(self) -> Self {
        match self {
            Self::Source(_) | Self::Shape(_) => Self::Blank(None),
            Self::Blank(ink) => Self::Blank(ink),
        }
    }

    /// Lies over another one.
    fn over(self, below: Self) -> Self {
        match (self, below) {
            (above, _) if above.is_solid() => above,
            (above, below) if above.is_clear() => below,
            (Self::Shape(ink), Self::Blank(Some(back))) if ink.vanishes_on(back) => {
                Self::Blank(Some(back))
            }
            (above @ Self::Source(_), _) => above,
            (_, below @ Self::Source(_)) => below,
            (above @ Self::Shape(_), _) => above,
            (Self::Blank(_), below @ Self::Shape(_)) => below,
            (Self::Blank(_), Self::Blank(_)) => Self::Blank(None),
        }
    }

    /// With other colours: red, green, blue, cover and a constant for each of the four.
    fn through(self, by: Matrix) -> Self {
        let [_, _, _, _, red, _, _, _, _, green, _, _, _, _, blue, a, b, c, d, e] = by;
        let is_none = |it: &[f64]| it.iter().all(|it| it.abs() < FAINT);
        let coloured = by.iter().take(15).enumerate().any(|(at, it)| at % 5 != 4 && *it != 0.0);
        let covered = !is_none(&[a, b, c, d]);
        if !covered && e < FAINT {
            return Self::Blank(Some(Ink::CLEAR));
        }
        let plain = Ink::of_parts([red, green, blue, if covered { d + e } else { e }]);
        match self {
            Self::Source(_) if !coloured && !covered => Self::Blank(Some(plain)),
            Self::Source(_) if !coloured && is_none(&[a, b, c]) => Self::Shape(plain),
            Self::Source(mut steps) => {
                steps.push(Step::Matrix(by));
                Self::Source(steps)
            }
            Self::Shape(ink) if covered => Self::Shape(ink.through(&by)),
            Self::Shape(ink) => Self::Blank(Some(ink.through(&by))),
            Self::Blank(ink) => Self::Blank(ink.map(|it| it.through(&by))),
        }
    }
}

/// `feComposite`: one as far as the other covers, or does not.
fn composed(element: &Element, one: Image, other: Image) -> Image {
    let clear = Image::Blank(Some(Ink::CLEAR));
    let factor = |name: &str| numbers(element, name).first().is_some_and(|it| it.abs() >= FAINT);
    let filled = |one: Image, other: Image| match (one, other) {
        (_, other) if other.is_clear() => clear.clone(),
        (Image::Blank(Some(ink)), Image::Source(_) | Image::Shape(_)) => Image::Shape(ink),
        (Image::Blank(None), other) => other,
        (one, _) => one,
    };
    match element.attribute("operator").unwrap_or("over") {
        "in" => filled(one, other),
        "out" if other.is_solid() => clear,
        "out" => one.over(other),
        "atop" if one.is_clear() => other,
        "atop" => filled(one, other),
        "arithmetic" => match (factor("k1"), factor("k2"), factor("k3")) {
            (false, false, false) => clear,
            (false, true, false) => one,
            (false, false, true) => other,
            (_, _, _) => one.over(other),
        },
        _ => one.over(other),
    }
}

/// What `feColorMatrix` does; nothing for what does not hide.
fn matrix_of(element: &Element) -> Option<Matrix> {
    let values = numbers(element, "values");
    let first = || values.first().copied();
    let [r, g, b] = [0.2126, 0.7152, 0.0722];
    match element.attribute("type").unwrap_or("matrix") {
        "matrix" => values.try_into().ok(),
        "saturate" => {
            let by = first()?.clamp(0.0, 1.0);
            let rest = 1.0 - by;
            let row = |at: usize| -> [f64; 5] {
                let own = |it: usize| if it == at { by } else { 0.0 };
                [r * rest + own(0), g * rest + own(1), b * rest + own(2), 0.0, 0.0]
            };
            let [one, two, three] = [row(0), row(1), row(2)];
            rows([one, two, three, [0.0, 0.0, 0.0, 1.0, 0.0]])
        }
        "luminanceToAlpha" => rows([[0.0; 5], [0.0; 5], [0.0; 5], [r, g, b, 0.0, 0.0]]),
        _ => None,
    }
}

fn rows(rows: [[f64; 5]; 4]) -> Option<Matrix> {
    rows.concat().try_into().ok()
}

/// What `feComponentTransfer` does to each of the four, as far as it is a factor and a constant.
fn transfer(tree: &Tree, id: Id) -> Matrix {
    let mut by = [0.0; 20];
    for (at, name) in ["feFuncR", "feFuncG", "feFuncB", "feFuncA"].into_iter().enumerate() {
        let last = children(tree, id).filter(|it| &*it.1.name.local == name).last();
        let (slope, constant) = last.map_or((1.0, 0.0), |it| function(it.1));
        by.get_mut(at * 6).into_iter().for_each(|it| *it = slope);
        by.get_mut(at * 5 + 4).into_iter().for_each(|it| *it = constant);
    }
    by
}

fn function(element: &Element) -> (f64, f64) {
    let number = |name: &str, usual: f64| numbers(element, name).first().copied().unwrap_or(usual);
    match element.attribute("type").unwrap_or("identity") {
        "linear" => (number("slope", 1.0), number("intercept", 0.0)),
        "gamma" => (number("amplitude", 1.0), number("offset", 0.0)),
        "table" | "discrete" => {
            match (numbers(element, "tableValues").first(), numbers(element, "tableValues").last())
            {
                (Some(first), Some(last)) => (last - first, *first),
                _ => (1.0, 0.0),
            }
        }
        _ => (1.0, 0.0),
    }
}

fn flood(element: &Element) -> Option<Ink> {
    let colour = said(element, "flood-color");
    let ink = match &colour {
        Some(text) => Ink::read(&tokens(text), false)?,
        None => Some(BLACK),
    };
    let share = said(element, "flood-opacity").map(|it| {
        let parts = tokens(&it);
        match parts.first().map(|it| &it.token) {
            Some(Token::Number(it)) => *it,
            Some(Token::Share(it)) => *it / 100.0,
            Some(_) | None => 1.0,
        }
    });
    ink.map(|it| it.thinned(share.unwrap_or(1.0).clamp(0.0, 1.0)))
}

/// What its style or an attribute says.
fn said(element: &Element, name: &str) -> Option<String> {
    let style = element.attribute("style").unwrap_or_default();
    let parts = tokens(style);
    let mut found = None;
    for item in Items::of_block(&parts) {
        if let Item::Declaration(parts) = item
            && parts.first().is_some_and(|it| it.is_word(name))
            && let Some(value) = components(parts).nth(2)
        {
            found = Some(super::declare::raw(value, style).to_owned());
        }
    }
    found.or_else(|| element.attribute(name).map(str::to_owned))
}

fn numbers(element: &Element, name: &str) -> Vec<f64> {
    let text = element.attribute(name).unwrap_or_default();
    let words = text.split([' ', ',', '\t', '\n', '\r']).filter(|it| !it.is_empty());
    words.take(NUMBERS_MAX).map_while(|it| it.parse().ok()).collect()
}

/// Filters of a page, steps of one, numbers of one step.
const FILTERS_MAX: usize = 256;
const NODES_MAX: usize = 64;
const NUMBERS_MAX: usize = 32;
/// Moved so far down or across, a few lines lie outside of what a filter shows.
const DOWN_PIXELS: f64 = 100.0;
const ACROSS_PIXELS: f64 = 1500.0;
/// Letters worn away by so much are gone; grown by so much, they are a blot.
const WORN_PIXELS: f64 = 2.0;
const GROWN_PIXELS: f64 = 6.0;
/// Their points moved about by so much, nothing can be read.
const TORN_PIXELS: f64 = 300.0;
