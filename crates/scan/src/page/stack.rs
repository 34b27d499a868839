//! What stands before and behind what: turns in space, boxes that are put below others, lines over letters.

use super::declare::{Paint, Switch};
use super::look::Look;
use super::style::Style;
use super::tree::Element;
use super::turn::{Matrix, View};

impl Look {
    /// Takes over how the element is turned in what looks like `outer`, and says what is seen of it.
    pub(super) fn turn(&mut self, style: &Style, outer: &Self) -> Option<View> {
        let own = style.turned();
        let eye = |pixels: Option<f64>| pixels.map_or(Matrix::ONE, Matrix::perspective);
        let (around, stretch) = outer.space.unwrap_or((eye(outer.eye), outer.stretch));
        let whole = around.after(own.unwrap_or(Matrix::ONE));
        let view = (own.is_some() || outer.space.is_some()).then(|| whole.view());
        self.stretch = stretch * view.map_or(1.0, |it| it.size);
        self.eye = style.eye;
        let cut = self.any(&[Switch::OverflowX, Switch::OverflowY]);
        let keeps = self.is(Switch::KeepsDepth) && !cut && !self.is_group(style);
        self.space = keeps.then(|| (whole.after(eye(style.eye)), stretch));
        self.averted = keeps
            && view.is_some_and(|it| it.gone || (it.backwards && self.is(Switch::BackHidden)));
        view
    }

    /// Is it drawn as one picture, before which or behind which everything else stands?
    fn is_group(&self, style: &Style) -> bool {
        style.opacity < 1.0
            || !style.lens.is_empty()
            || self.any(&[Switch::Contained, Switch::Stacks])
            || self.any(&[Switch::BlendLight, Switch::BlendDark, Switch::BlendDiffers])
            || style.says(Switch::ClipPathEmpty)
            || style.says(Switch::Masked)
    }

    /// Takes over a line through the text, which goes through what is inside, too.
    pub(super) fn strike(&mut self, style: &Style) {
        if self.is(Switch::OutOfFlow) {
            self.struck = 0.0;
        }
        let seen = match style.strike {
            Some(Paint::Known(ink)) => ink.is_solid(),
            Some(Paint::Current | Paint::Wide(_)) | None => true,
            Some(Paint::Unknown) => false,
        };
        let drawn = self.is(Switch::Struck) && !self.is(Switch::StrikeBroken) && seen;
        if let Some(thick) = style.strike_thick.filter(|_| drawn) {
            self.struck = self.struck.max(thick.of(self.size, self.root));
        }
    }

    /// Is it put below the background of something around it?
    pub(super) fn is_behind(&self, style: &Style, outer: &Self) -> bool {
        let sides = [Switch::TopFar, Switch::RightFar, Switch::BottomFar, Switch::LeftFar];
        let moved = [
            Switch::TopEdge,
            Switch::RightEdge,
            Switch::BottomEdge,
            Switch::LeftEdge,
            Switch::TopBack,
            Switch::RightBack,
            Switch::BottomBack,
            Switch::LeftBack,
        ];
        // What is out of the row stands beside what is painted, perhaps.
        let said = sides.iter().filter(|it| style.says(**it)).count();
        let inside = !self.is(Switch::OutOfFlow) || (said != 1 && !self.any(&moved));
        self.is_ranked(outer)
            && self.is(Switch::RankedBelow)
            && inside
            && outer.ground.covered > outer.stack
    }

    /// Does it stand before or behind others by its rank?
    fn is_ranked(&self, outer: &Self) -> bool {
        let item = outer.any(&[Switch::Flex, Switch::Grid]);
        self.is(Switch::Ranked) && (self.is(Switch::Placed) || item)
    }

    /// Notes whether what is in it stays before its background; `depth` elements stand above it.
    pub(super) fn stack(
        &mut self,
        element: &Element,
        style: &Style,
        view: Option<View>,
        outer: &Self,
        depth: usize,
    ) {
        let root = &*element.name.local == "html";
        let stacks = root
            || self.is_ranked(outer)
            || view.is_some()
            || style.eye.is_some()
            || self.is(Switch::Fixed)
            || self.is(Switch::KeepsDepth)
            || self.is_group(style);
        if stacks {
            // The background of the body is that of the page, unless the page has one.
            self.stack = if root && self.ground.covered == 0 { 2 } else { depth + 1 };
        }
    }
}
