//! Layers of style sheets, and how they rank.

/// All layers, by number. The first is what stands in no layer.
#[derive(Debug)]
pub(super) struct Layers {
    all: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    parent: usize,
    /// None has a name that nothing else can have.
    name: Option<String>,
    /// Its number among those of its parent.
    index: usize,
    children: usize,
}

impl Default for Layers {
    fn default() -> Self {
        Self { all: vec![Layer { parent: 0, name: None, index: 0, children: 0 }] }
    }
}

/// What stands in no layer.
pub(super) const OUTSIDE: usize = 0;

impl Layers {
    /// The layer `a.b` within another one, made now if it was not there. Nothing if there are too many.
    pub(super) fn enter(&mut self, parent: usize, path: &[&str]) -> Option<usize> {
        let mut at = parent;
        if path.is_empty() {
            return self.add(at, None);
        }
        for name in path {
            let found = self
                .all
                .iter()
                .skip(1)
                .position(|it| it.parent == at && it.name.as_deref() == Some(name));
            at = match found {
                Some(found) => found + 1,
                None => self.add(at, Some((*name).to_owned()))?,
            };
        }
        Some(at)
    }

    fn add(&mut self, parent: usize, name: Option<String>) -> Option<usize> {
        if self.all.len() >= LAYERS_MAX {
            return None;
        }
        let above = self.all.get_mut(parent)?;
        let index = above.children;
        above.children += 1;
        self.all.push(Layer { parent, name, index, children: 0 });
        Some(self.all.len() - 1)
    }

    /// For each layer its rank: what stands outside is above what stands inside, and later above earlier.
    pub(super) fn ranks(&self) -> Vec<usize> {
        let mut keys: Vec<(Vec<usize>, usize)> = (0..self.all.len())
            .map(|layer| {
                let mut key = vec![usize::MAX];
                let mut at = layer;
                while let Some(found) = self.all.get(at).filter(|_| at != OUTSIDE) {
                    key.push(found.index);
                    at = found.parent;
                }
                key.reverse();
                (key, layer)
            })
            .collect();
        keys.sort();
        let mut ranks = vec![0; self.all.len()];
        for (rank, (_, layer)) in keys.iter().enumerate() {
            ranks.get_mut(*layer).into_iter().for_each(|it| *it = rank);
        }
        ranks
    }
}

/// Layers of a page.
const LAYERS_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_is_above_inside_and_later_above_earlier() {
        let mut layers = Layers::default();
        let b = layers.enter(OUTSIDE, &["b"]).unwrap();
        let a = layers.enter(OUTSIDE, &["a"]).unwrap();
        let within = layers.enter(OUTSIDE, &["a", "x"]).unwrap();
        assert_eq!(layers.enter(a, &["x"]), Some(within));
        let nameless = layers.enter(OUTSIDE, &[]).unwrap();
        let ranks = layers.ranks();
        let order = [b, within, a, nameless, OUTSIDE].map(|it| ranks[it]);
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }
}
