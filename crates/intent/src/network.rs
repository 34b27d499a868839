//! The network: six layers of a BERT encoder, with weights and inputs as small whole numbers.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, GemmResult, QuantParams};
use rten_tensor::{Matrix, NdTensorView};

use crate::weights::{Dense, Head, Weights, WeightsError};

/// What an input of zero becomes.
const ZERO: u8 = 128;
/// The largest input on either side of it.
const STEPS: f32 = 127.0;
const EPSILON: f32 = 1e-12;

/// The network with its weights.
pub(crate) struct Network {
    head: Head,
    /// A row of small numbers for each piece of a word, and its scale.
    words: &'static [u8],
    scales: Vec<f32>,
    places: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// What multiplies: it belongs to one thread.
struct Engine {
    whole: GemmExecutor<u8, i8, i32>,
    float: GemmExecutor,
    heads: usize,
    width: usize,
}

struct Norm {
    gain: Vec<f32>,
    bias: Vec<f32>,
}

struct Layer {
    qkv: Dense,
    out: Dense,
    after_attention: Norm,
    up: Dense,
    down: Dense,
    after_all: Norm,
}

impl Network {
    pub(crate) fn read(file: &'static [u8]) -> Result<Self, WeightsError> {
        let (head, mut weights) = Weights::open(file)?;
        let whole = GemmExecutor::<u8, i8, i32>::default();
        let width = head.width;
        let words = weights.bytes(head.words.saturating_mul(width))?;
        let scales = weights.floats(head.words)?;
        let places = weights.floats(head.places.saturating_mul(width))?;
        let norm = Norm::read(&mut weights, width)?;
        let layers = (0..head.layers)
            .map(|_| Layer::read(&mut weights, &whole, width))
            .collect::<Result<_, _>>()?;
        weights.close()?;
        Ok(Self { head, words, scales, places, norm, layers })
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// The direction in which a text of these pieces points: a vector of length one. Nothing, if there is no room for so many.
    pub(crate) fn embed(&self, pieces: &[u32]) -> Option<Vec<f32>> {
        let width = self.head.width;
        let mut rows = Vec::with_capacity(pieces.len().saturating_mul(width));
        if pieces.is_empty() || pieces.len() > self.head.places {
            return None;
        }
        for (piece, place) in pieces.iter().zip(self.places.chunks_exact(width)) {
            let at = usize::try_from(*piece).ok()?;
            let start = at.checked_mul(width)?;
            let row = self.words.get(start..start.checked_add(width)?)?;
            let scale = self.scales.get(at)?;
            rows.extend(
                row.iter()
                    .zip(place)
                    .map(|(it, place)| f32::from(it.cast_signed()) * scale + place),
            );
        }
        self.norm.apply(&mut rows);
        let engine = Engine {
            whole: GemmExecutor::default(),
            float: GemmExecutor::default(),
            heads: self.head.heads,
            width,
        };
        for layer in &self.layers {
            engine.pass(layer, &mut rows).ok()?;
        }
        let mut mean = vec![0.0_f32; width];
        for row in rows.chunks_exact(width) {
            mean.iter_mut().zip(row).for_each(|(sum, it)| *sum += it);
        }
        let length = mean.iter().map(|it| it * it).sum::<f32>().sqrt();
        mean.iter_mut().for_each(|it| *it /= length);
        mean.iter().all(|it| it.is_finite()).then_some(mean)
    }
}

impl Engine {
    fn pass(&self, layer: &Layer, rows: &mut [f32]) -> GemmResult {
        let mixed = self.attend(&self.multiply(&layer.qkv, rows)?)?;
        add(rows, &self.multiply(&layer.out, &mixed)?);
        layer.after_attention.apply(rows);
        let mut wide = self.multiply(&layer.up, rows)?;
        wide.iter_mut().for_each(|it| *it = gelu(*it));
        add(rows, &self.multiply(&layer.down, &wide)?);
        layer.after_all.apply(rows);
        Ok(())
    }

    /// Rows times weights. Each row is scaled to small whole numbers of its own.
    fn multiply(&self, dense: &Dense, rows: &[f32]) -> GemmResult<Vec<f32>> {
        let count = rows.len() / dense.inputs;
        let mut small = Vec::with_capacity(rows.len());
        let mut scales = Vec::with_capacity(count);
        for row in rows.chunks_exact(dense.inputs) {
            let most = folded(row, f32::MIN_POSITIVE, |most, it| most.max(it.abs()));
            let factor = STEPS / most;
            scales.push(most / STEPS);
            small.extend(row.iter().map(|it| to_small(it * factor)));
        }
        let outputs = dense.scales.len();
        let mut sums = vec![0_i32; count.saturating_mul(outputs)];
        let zero_point = vec![ZERO; count];
        let options = GemmOptions {
            a_quant: Some(QuantParams { zero_point: &zero_point }),
            ..GemmOptions::default()
        };
        let left = GemmInputA::Unpacked(matrix(&small, [count, dense.inputs]));
        self.whole.gemm(&mut sums, left, GemmInputB::Packed(&dense.weights), options)?;
        let mut out = Vec::with_capacity(sums.len());
        for (row, scale) in sums.chunks_exact(outputs).zip(&scales) {
            let columns = row.iter().zip(&dense.scales).zip(&dense.bias);
            out.extend(columns.map(|((sum, column), bias)| to_float(*sum) * scale * column + bias));
        }
        Ok(out)
    }

    /// Each piece takes from the others what its question asks for, head by head.
    fn attend(&self, qkv: &[f32]) -> GemmResult<Vec<f32>> {
        let width = self.width;
        let size = width / self.heads;
        let count = qkv.len() / width.saturating_mul(3);
        let mut mixed = vec![0.0; count.saturating_mul(width)];
        let (mut scores, mut taken) =
            (vec![0.0; count.saturating_mul(count)], vec![0.0; count.saturating_mul(size)]);
        let root = to_float(i32::try_from(size).unwrap_or(1)).sqrt();
        let options = || GemmOptions { alpha: root.recip(), ..GemmOptions::default() };
        for head in 0..self.heads {
            let part = |which: usize| -> Vec<f32> {
                let at = which.saturating_mul(self.heads).saturating_add(head);
                let rows = qkv.chunks_exact(width.saturating_mul(3));
                let parts: Vec<&[f32]> =
                    rows.filter_map(|it| it.chunks_exact(size).nth(at)).collect();
                parts.concat()
            };
            let (questions, keys, values) = (part(0), part(1), part(2));
            let left = GemmInputA::Unpacked(matrix(&questions, [count, size]));
            let keys = matrix(&keys, [count, size]);
            let turned = GemmInputB::Unpacked(keys.transposed());
            self.float.gemm(&mut scores, left, turned, options())?;
            scores.chunks_exact_mut(count).for_each(soften);
            let left = GemmInputA::Unpacked(matrix(&scores, [count, count]));
            let right = GemmInputB::Unpacked(matrix(&values, [count, size]));
            self.float.gemm(&mut taken, left, right, GemmOptions::default())?;
            let targets = mixed.chunks_exact_mut(width);
            let targets = targets.filter_map(|it| it.chunks_exact_mut(size).nth(head));
            targets.zip(taken.chunks_exact(size)).for_each(|(to, from)| to.copy_from_slice(from));
        }
        Ok(mixed)
    }
}

impl Norm {
    fn read(weights: &mut Weights, width: usize) -> Result<Self, WeightsError> {
        Ok(Self { gain: weights.floats(width)?, bias: weights.floats(width)? })
    }

    fn apply(&self, rows: &mut [f32]) {
        let width = self.gain.len();
        let share = to_float(i32::try_from(width).unwrap_or(1)).recip();
        for row in rows.chunks_exact_mut(width) {
            let mean = folded(row, 0.0, |sum, it| sum + it) * share;
            row.iter_mut().for_each(|it| *it -= mean);
            let squares: Vec<f32> = row.iter().map(|it| it * it).collect();
            let spread = folded(&squares, 0.0, |sum, it| sum + it) * share;
            let factor = (spread + EPSILON).sqrt().recip();
            for ((it, gain), bias) in row.iter_mut().zip(&self.gain).zip(&self.bias) {
                *it = *it * factor * gain + bias;
            }
        }
    }
}

impl Layer {
    fn read(
        weights: &mut Weights,
        executor: &GemmExecutor<u8, i8, i32>,
        width: usize,
    ) -> Result<Self, WeightsError> {
        let wide = width.saturating_mul(4);
        Ok(Self {
            qkv: weights.dense(executor, (width, width.saturating_mul(3)))?,
            out: weights.dense(executor, (width, width))?,
            after_attention: Norm::read(weights, width)?,
            up: weights.dense(executor, (width, wide))?,
            down: weights.dense(executor, (wide, width))?,
            after_all: Norm::read(weights, width)?,
        })
    }
}

fn matrix<T>(data: &[T], shape: [usize; 2]) -> Matrix<'_, T> {
    NdTensorView::from_data(shape, data)
}

fn add(to: &mut [f32], more: &[f32]) {
    to.iter_mut().zip(more).for_each(|(it, more)| *it += more);
}

/// Folds a row in eight lanes, which the processor does at once, and the lanes in the end. `fold` must do for both.
fn folded(row: &[f32], start: f32, fold: impl Fn(f32, f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<8>();
    let mut lanes = [start; 8];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, it)| *lane = fold(*lane, *it));
    }
    rest.iter().chain(&lanes).fold(start, |all, it| fold(all, *it))
}

/// Turns scores into shares that add up to one.
fn soften(scores: &mut [f32]) {
    let most = folded(scores, f32::MIN, f32::max);
    scores.iter_mut().for_each(|it| *it = power(*it - most));
    let sum = folded(scores, 0.0, |sum, it| sum + it).recip();
    scores.iter_mut().for_each(|it| *it *= sum);
}

/// About `e` to a power that is not above zero: `(1 + x/256)^256`, which the compiler does for many at once.
fn power(x: f32) -> f32 {
    let mut it = (1.0 + x / 256.0).max(0.0);
    for _ in 0..8 {
        it *= it;
    }
    it
}

/// The same curve as in training: a quotient in the place of `tanh`.
fn gelu(x: f32) -> f32 {
    let y = 0.797_884_6 * (x + 0.044_715 * x * x * x);
    let square = y * y;
    let bend = (y * (27.0 + square) / (27.0 + 9.0 * square)).clamp(-1.0, 1.0);
    0.5 * x * (1.0 + bend)
}

/// A number between -127 and 127 as a small one above zero: with so much added to it, a float has no room for a fraction,
/// and its last bits are the whole number.
fn to_small(it: f32) -> u8 {
    const NO_FRACTION: f32 = 12_582_912.0;
    let [last, ..] = (it + f32::from(ZERO) + NO_FRACTION).to_bits().to_le_bytes();
    last
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "sums of products are rounded to what a float holds"
)]
fn to_float(it: i32) -> f32 {
    it as f32
}
