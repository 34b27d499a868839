//! What all style sheets of a page say of one element, the weightier over the lighter.

use std::collections::HashMap;
use std::rc::Rc;

use super::colour::Ink;
use super::declare::{
    Bits, Declaration, Line, Paint, Said, State, Surface, Switch, Thickness, Wide, declarations,
};
use super::filter::Filter;
use super::fit::{Scene, Sure};
use super::lens::Step;
use super::own::Own;
use super::scenery::Scenery;
use super::shadow::{Scope, Shadow};
use super::sheet::Sheet;
use super::tree::{Element, Id, Tree};
use super::turn::Matrix;
use super::{value, words};

/// The style sheets of a page at work.
pub(super) struct Styles<'a> {
    pub(super) sheet: &'a Sheet,
    pub(super) ranks: Rc<[usize]>,
    /// The styles around the shadow tree.
    pub(super) outer: Option<&'a Sheet>,
    pub(super) shadows: &'a HashMap<Id, Shadow>,
    /// An element that stands in a slot, and the slot with what it stands in.
    pub(super) slot: Option<(Id, Id, Scope<'a>)>,
    pub(super) scene: Scene<'a>,
    /// What was found to lie in elements.
    pub(super) sceneries: HashMap<Id, Scenery>,
}

impl<'a> Styles<'a> {
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet, shadows: &'a HashMap<Id, Shadow>) -> Self {
        let (ranks, sceneries) = (sheet.layers.ranks().into(), HashMap::new());
        let scene = Scene::new(tree);
        Self { sheet, ranks, outer: None, shadows, slot: None, scene, sceneries }
    }

    /// Goes over to the styles of another tree.
    pub(super) fn enter(&mut self, scope: &Scope<'a>) {
        (self.sheet, self.ranks) = (scope.sheet, Rc::clone(&scope.ranks));
        self.outer = scope.outer.as_ref().map(|it| it.sheet);
        self.scene.host = scope.shadow.map(|it| it.1);
        self.scene.steps += scope.path.len();
    }

    /// Notes in which slot of which shadow tree an element stands.
    pub(super) fn put(&mut self, slot: Option<(Id, Id, Scope<'a>)>) {
        self.scene.steps += slot.as_ref().map_or(0, |it| it.2.path.len());
        self.slot = slot;
    }

    pub(super) fn tree(&self) -> &'a Tree {
        self.scene.tree
    }

    /// Counts what is not counted where it is done.
    pub(super) fn spend(&mut self, steps: usize) {
        self.scene.steps += steps;
    }

    /// Has the element a box before or after its text that is placed and painted?
    pub(super) fn is_decorated(&mut self, id: Id, path: &[Id]) -> bool {
        let sheet = self.sheet;
        self.scene.generated = true;
        let found = sheet.decorations.iter().filter_map(|it| sheet.rules.get(*it)).any(|rule| {
            let selects = |it| self.scene.selects(it, path, (id, path.len())) > Sure::No;
            rule.selector().is_some_and(selects)
        });
        self.scene.generated = false;
        found
    }

    /// Was so much compared that the rest of the page is better left unread?
    pub(super) fn exhausted(&self) -> bool {
        self.scene.exhausted()
    }

    /// Everything said about the element, which stands below `path` in something that has `own`.
    pub(super) fn cascade(&mut self, element: &Element, id: Id, path: &[Id], own: &Own) -> Style {
        let old = self.scene.tree.is_old();
        let mut style = Style { opacity: 1.0, ..Style::default() };
        if !element.attributes.is_empty() {
            style.old_attributes(element);
        }
        let inline = declarations(element.attribute("style").unwrap_or_default(), old);
        let mut rules = self.matching(element, id, path);
        if rules.is_empty() && inline.is_empty() {
            style.own = own.clone();
            return style;
        }
        rules.sort_by_key(|it| (it.layer, it.specificity, it.index));
        let mut weighed: Vec<(&[Declaration], bool, bool)> = Vec::new();
        weighed.extend(rules.iter().map(|it| (&*it.rule.declarations, it.unsure, false)));
        weighed.push((&inline, false, false));
        // What is important ranks by layers the other way round.
        rules.sort_by_key(|it| (usize::MAX - it.layer, it.specificity, it.index));
        weighed.extend(rules.iter().map(|it| (&*it.rule.declarations, it.unsure, true)));
        weighed.push((&inline, false, true));
        let mut said: Vec<(Rc<str>, Rc<str>)> = Vec::new();
        for (found, _, important) in weighed.iter().filter(|it| !it.1) {
            self.scene.steps += found.len();
            for one in found.iter().filter(|it| it.important == *important) {
                if let Said::Own(name, raw) = &one.said {
                    said.push((Rc::clone(name), Rc::clone(raw)));
                }
            }
        }
        style.own = own.with(&said, &mut self.scene.steps);
        for (found, unsure, important) in &weighed {
            self.scene.steps += found.len();
            style.take(found, *unsure, *important, old);
        }
        if let Some(last) = style.shown_by(self.sheet) {
            style.take(last, false, false, old);
            // An animation outranks all but what is important.
            let important = weighed.iter().filter(|it| it.2);
            important.for_each(|(found, unsure, _)| style.take(found, *unsure, true, old));
        }
        for name in Rc::clone(&style.animated).iter() {
            let last = self.sheet.keyframes.get(name).map(Vec::as_slice).unwrap_or_default();
            self.scene.steps += last.len();
            style.take(last, true, false, old);
            if style.on & Switch::Paused.bit() != 0 {
                let first = self.sheet.first_pictures.get(name);
                style.take(first.map(Vec::as_slice).unwrap_or_default(), true, false, old);
            }
        }
        for (which, name) in std::mem::take(&mut style.refers) {
            let filter = self.sheet.drawn.filters.get(&*name);
            if let Some(filter) = filter.filter(|_| which == Switch::Filtered) {
                style.look_through(filter);
                continue;
            }
            // What a mask that is not there leaves is nothing.
            let missing = which == Switch::Masked && !self.sheet.drawn.masks.contains(&*name);
            let flat = which == Switch::FontShrunk;
            let void = !flat && self.sheet.drawn.voids.contains(&*name);
            if missing || void || (flat && self.sheet.flat_fonts.contains(&*name)) {
                style.set(which, State::Hides);
            }
        }
        style
    }
}

/// What holds for one element after all was weighed.
#[derive(Debug, Default)]
pub(super) struct Style {
    on: Bits,
    off: Bits,
    inherit: Bits,
    /// What hides by any declaration, also by one that was outranked.
    ever: Bits,
    /// So many pixels, and so many times the size outside and that of the page itself.
    pub(super) size: Option<(f64, f64, f64)>,
    ever_tiny: bool,
    /// How much of it covers what lies below, 0 to 1.
    pub(super) opacity: f64,
    pub(super) colour: Option<Paint>,
    pub(super) fill: Option<Paint>,
    pub(super) background: Option<Paint>,
    /// A colour that is painted over the background.
    pub(super) picture: Option<Ink>,
    /// A colour that a shadow casts over both.
    pub(super) cast: Option<Paint>,
    pub(super) halo: Option<Paint>,
    pub(super) stroke: Option<Paint>,
    pub(super) stroke_thick: Option<Thickness>,
    pub(super) strike: Option<Paint>,
    /// How thick a line through the letters is.
    pub(super) strike_thick: Option<Thickness>,
    /// What links in it have.
    pub(super) link: Option<Ink>,
    pub(super) lens: Rc<[Step]>,
    /// Shapes of the page that may hide, and by what.
    refers: Vec<(Switch, Rc<str>)>,
    /// By zooming, translating, rotating, scaling and transforming.
    turns: [Option<Matrix>; 5],
    /// How far before what is inside the eye stands.
    pub(super) eye: Option<f64>,
    /// A colour of the text that it may have.
    pub(super) maybe: Option<Ink>,
    animated: Rc<[String]>,
    /// There may be another animation, or none.
    doubted: bool,
    pub(super) own: Own,
}

impl Style {
    /// What hides in the end, `outer` being what does around it.
    pub(super) fn computed(&self, outer: Bits) -> Bits {
        let inherited = !(self.on | self.off) & outer & Switch::INHERITED;
        self.on | inherited | (self.inherit & outer)
    }

    /// Was anything said of it that is not taken back?
    pub(super) fn says(&self, which: Switch) -> bool {
        (self.on | self.off | self.inherit) & which.bit() != 0
    }

    /// Is one of these turned on by what is said of the element itself?
    pub(super) fn is_any(&self, switches: &[Switch]) -> bool {
        switches.iter().any(|it| self.on & it.bit() != 0)
    }

    /// How it is moved, turned and stretched, if it is.
    pub(super) fn turned(&self) -> Option<Matrix> {
        self.turns.iter().flatten().copied().reduce(Matrix::after)
    }

    fn take(&mut self, found: &[Declaration], unsure: bool, important: bool, old: bool) {
        let paints = found.iter().any(|it| {
            matches!(it.said, Said::Ink(Surface::Background, _) | Said::Switch(Switch::Image, _))
        });
        for one in found.iter().filter(|it| it.important == important) {
            match &one.said {
                Said::Late(name, raw) => {
                    let late = self.late(name, raw, important, old);
                    late.iter().for_each(|it| self.weigh(&it.0, unsure || it.1, paints));
                }
                Said::Switch(..)
                | Said::Opacity(_)
                | Said::Animated(_)
                | Said::Size(..)
                | Said::SizeWide(_)
                | Said::Ink(..)
                | Said::Lens(_)
                | Said::Refers(..)
                | Said::Turn(..)
                | Said::Eye(_)
                | Said::Thick(..)
                | Said::All(_)
                | Said::Own(..) => self.weigh(one, unsure, paints),
            }
        }
    }

    fn weigh(&mut self, one: &Declaration, unsure: bool, paints: bool) {
        if !unsure {
            self.say(&one.said);
        } else if let Said::Ink(surface, paint) = &one.said {
            if let (Surface::Colour | Surface::Fill, Paint::Known(ink), false) =
                (surface, paint, paints)
            {
                self.maybe = Some(*ink);
            }
        } else if one.hides() {
            self.say(&one.said);
        }
        let moves = matches!(
            one.said,
            Said::Animated(_) | Said::All(_) | Said::Switch(Switch::Paused | Switch::Plays, _)
        );
        self.doubted |= unsure && moves;
    }

    /// The last picture of an animation that is known to end with it.
    fn shown_by<'a>(&self, sheet: &'a Sheet) -> Option<&'a [Declaration]> {
        let is = |which: Switch| self.on & which.bit() != 0;
        if self.doubted || !is(Switch::Plays) || is(Switch::Paused) {
            return None;
        }
        let is_name =
            |it: &&String| !words::ANIMATED.iter().any(|word| it.eq_ignore_ascii_case(word));
        let mut names = self.animated.iter().filter(is_name);
        let (Some(name), None) = (names.next(), names.next()) else { return None };
        let known = !sheet.doubtful_animations.contains(name);
        sheet.keyframes.get(name).filter(|_| known).map(Vec::as_slice)
    }

    pub(super) fn say(&mut self, said: &Said) {
        match said {
            Said::Switch(which, state) => {
                self.set(*which, *state);
                // A word for all properties.
                if *which == Switch::OpacityZero {
                    self.opacity = 1.0;
                }
            }
            Said::Opacity(opacity) => {
                let faint = *opacity < value::FAINT;
                self.set(Switch::OpacityZero, if faint { State::Hides } else { State::Shows });
                self.opacity = *opacity;
            }
            Said::Size(pixels, times, roots) => {
                self.size = Some((*pixels, *times, *roots));
                self.ever_tiny |= pixels + (times + roots) * 16.0 <= value::TINY_LETTERS;
            }
            Said::Lens(steps) => self.lens = Rc::clone(steps),
            Said::Refers(which, name) => self.refers.push((*which, Rc::clone(name))),
            Said::Turn(which, matrix) => {
                let turn = self.turns.get_mut(*which as usize);
                turn.into_iter().for_each(|it| *it = Some(*matrix));
            }
            Said::Eye(pixels) => self.eye = *pixels,
            Said::Thick(Line::Stroke, thick) => self.stroke_thick = Some(*thick),
            Said::Thick(Line::Strike, thick) => self.strike_thick = Some(*thick),
            Said::Ink(Surface::Cast, paint) => self.cast = Some(*paint),
            Said::Ink(Surface::Halo, paint) => self.halo = Some(*paint),
            Said::Ink(Surface::Stroke, paint) => self.stroke = Some(*paint),
            Said::Ink(Surface::Strike, paint) => self.strike = Some(*paint),
            Said::SizeWide(wide) => self.size_wide(*wide),
            Said::Ink(Surface::Colour, paint) => self.colour = Some(*paint),
            Said::Ink(Surface::Fill, paint) => self.fill = Some(*paint),
            Said::Ink(Surface::Background, paint) => self.background = Some(*paint),
            Said::Ink(Surface::Picture, paint) => {
                let ink = if let Paint::Known(ink) = paint { Some(*ink) } else { None };
                self.picture = ink.filter(|it| it.is_solid());
            }
            Said::All(wide) => {
                Switch::ALL.iter().for_each(|it| self.set(*it, State::Wide(*wide)));
                self.opacity = 1.0;
                self.size_wide(*wide);
                self.colour = Some(Paint::Wide(*wide));
                self.fill = Some(Paint::Wide(*wide));
                self.background = Some(Paint::Wide(*wide));
                (self.halo, self.stroke) = (Some(Paint::Wide(*wide)), Some(Paint::Wide(*wide)));
                (self.picture, self.cast, self.eye) = (None, None, None);
                (self.lens, self.turns) = (Rc::from([]), [None; 5]);
                (self.stroke_thick, self.strike_thick) = (None, None);
            }
            Said::Animated(names) => self.animated = Rc::clone(names),
            Said::Own(..) | Said::Late(..) => {}
        }
    }

    /// Puts a filter that is drawn in the page behind those that are said.
    fn look_through(&mut self, filter: &Filter) {
        if filter.hides {
            self.set(Switch::Filtered, State::Hides);
        }
        self.lens = self.lens.iter().chain(&filter.steps).copied().collect();
    }

    fn size_wide(&mut self, wide: Wide) {
        self.size = match wide {
            Wide::Initial => Some((16.0, 0.0, 0.0)),
            Wide::Inherit | Wide::Unset | Wide::Revert => None,
            Wide::RevertLayer => self.ever_tiny.then_some((0.0, 0.0, 0.0)),
        };
    }

    /// Leaves what goes over to what is inside: an element without a box has nothing else.
    pub(super) fn without_box(&mut self) {
        self.on &= Switch::INHERITED | Switch::DisplayNone.bit();
        (self.opacity, self.lens, self.turns) = (1.0, Rc::from([]), [None; 5]);
        (self.background, self.picture, self.cast, self.eye) = (None, None, None, None);
        self.refers.clear();
    }

    pub(super) fn set(&mut self, which: Switch, state: State) {
        let bit = which.bit();
        self.refers.retain(|it| it.0 != which);
        self.on &= !bit;
        self.off &= !bit;
        self.inherit &= !bit;
        match state {
            State::Hides => {
                self.on |= bit;
                self.ever |= bit;
            }
            State::Shows | State::Wide(Wide::Initial) => self.off |= bit,
            State::Wide(Wide::Inherit) => self.inherit |= bit,
            State::Wide(Wide::Unset) if which.is_inherited() => self.inherit |= bit,
            State::Wide(Wide::Unset) => self.off |= bit,
            State::Wide(Wide::Revert) => {}
            // What the layers below say is not kept apart: if one of them hides, it does.
            State::Wide(Wide::RevertLayer) => self.on |= self.ever & bit,
        }
    }
}
