//! Columns of tables: a style may hide one with all cells in it, or paint what lies behind them.

use super::look::Look;
use super::style::Styles;
use super::tree::{Content, Element, Id, Tree};

/// Columns of a table that are told apart.
const COLUMNS_MAX: usize = 1000;

/// The tables around, the innermost last, as far as a style may say something of their columns.
#[derive(Default)]
pub(super) struct Tables(Vec<Columns>);

struct Columns {
    table: Id,
    /// How many elements stand above the table.
    depth: usize,
    /// How the columns look, with the number of the first column that looks otherwise.
    looks: Vec<(usize, Look)>,
    row: usize,
    /// The first row of each column in which no cell from above stands any more.
    free: Vec<usize>,
    at: usize,
}

impl Tables {
    /// Notes an element that was entered, which looks like `own` and stands below `path`.
    pub(super) fn open(
        &mut self,
        (element, id): (&Element, Id),
        own: &Look,
        tree: &Tree,
        styles: &mut Styles<'_>,
        path: &[Id],
    ) {
        match &*element.name.local {
            "table" => {
                self.leave(path);
                let looks = columns_of(id, own, tree, styles, path);
                // One within another has columns of its own, also if nothing is said of them.
                if !looks.is_empty() || !self.0.is_empty() {
                    let (depth, free) = (path.len(), Vec::new());
                    self.0.push(Columns { table: id, depth, looks, row: 0, free, at: 0 });
                }
            }
            "tr" => {
                self.leave(path);
                self.0.last_mut().into_iter().for_each(Columns::next_row);
            }
            "thead" | "tbody" | "tfoot" => {
                self.leave(path);
                self.0.last_mut().into_iter().for_each(|it| it.free.clear());
            }
            _ => {}
        }
    }

    /// For a cell: is its column hidden, and how looks what is around it with the background of the column?
    pub(super) fn cell(
        &mut self,
        element: &Element,
        around: &Look,
        path: &[Id],
    ) -> (bool, Option<Look>) {
        if self.0.is_empty() || !matches!(&*element.name.local, "td" | "th") {
            return (false, None);
        }
        self.leave(path);
        let Some(columns) = self.0.last_mut() else { return (false, None) };
        let depth = columns.depth;
        let (from, to) = columns.next_cell(element);
        let starts = std::iter::once(0).chain(columns.looks.iter().map(|it| it.0));
        let mut found = columns.looks.iter().zip(starts).filter(|it| it.0.0 > from && it.1 < to);
        let first = found.clone().next().map(|it| &it.0.1);
        let known = columns.looks.last().is_some_and(|it| it.0 >= to);
        let hidden = known && from < to && found.all(|it| it.0.1.is_collapsed());
        (hidden, first.and_then(|it| around.over_column(it, depth)))
    }

    /// Forgets tables that `path` does not lead through any more.
    fn leave(&mut self, path: &[Id]) {
        while self.0.last().is_some_and(|it| path.get(it.depth) != Some(&it.table)) {
            self.0.pop();
        }
    }
}

impl Columns {
    fn next_row(&mut self) {
        (self.at, self.row) = (0, self.row.saturating_add(1));
    }

    /// The first column of the next cell of the row, and the first behind it.
    fn next_cell(&mut self, cell: &Element) -> (usize, usize) {
        while self.free.get(self.at).is_some_and(|it| *it > self.row) {
            self.at += 1;
        }
        let from = self.at;
        let to = from.saturating_add(span_of(cell, "colspan")).min(COLUMNS_MAX);
        if self.free.len() < to {
            self.free.resize(to, 0);
        }
        let until = self.row.saturating_add(span_of(cell, "rowspan"));
        self.free.get_mut(from..to).unwrap_or_default().fill(until);
        self.at = to;
        (from, to)
    }
}

fn span_of(element: &Element, name: &str) -> usize {
    let written = element.attribute(name).and_then(|it| it.trim().parse::<usize>().ok());
    match written {
        // All rows that are left.
        Some(0) if name == "rowspan" => usize::MAX,
        Some(count) => count.clamp(1, COLUMNS_MAX),
        None => 1,
    }
}

/// How the columns of a table look, if it says anything of them.
fn columns_of(
    table: Id,
    own: &Look,
    tree: &Tree,
    styles: &mut Styles<'_>,
    path: &[Id],
) -> Vec<(usize, Look)> {
    let mut looks: Vec<(usize, Look)> = Vec::new();
    let add = |element: &Element, look: Look, looks: &mut Vec<(usize, Look)>| {
        let count = looks.last().map_or(0, |it| it.0);
        if count < COLUMNS_MAX {
            looks.push(((count + span_of(element, "span")).min(COLUMNS_MAX), look));
        }
    };
    let mut above = path.to_vec();
    above.push(table);
    let mut child = tree.get(table).and_then(|it| it.first);
    while let Some((id, node)) = child.and_then(|it| Some((it, tree.get(it)?))) {
        child = node.after;
        let Content::Element(element) = &node.content else { continue };
        match &*element.name.local {
            "caption" => continue,
            "colgroup" => {}
            _ => break,
        }
        let group = own.of(element, id, styles, &above);
        above.push(id);
        let before = looks.len();
        let mut column = node.first;
        while let Some((id, node)) = column.and_then(|it| Some((it, tree.get(it)?))) {
            column = node.after;
            if let Content::Element(element) = &node.content
                && looks.len() < COLUMNS_MAX
            {
                let look = group.of(element, id, styles, &above);
                add(element, look, &mut looks);
            }
        }
        above.pop();
        if looks.len() == before {
            add(element, group, &mut looks);
        }
    }
    looks
}
