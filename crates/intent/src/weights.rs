//! Reads the file of weights: a line of JSON, and numbers in one fixed order behind it.

use rten_gemm::{GemmExecutor, PackedBMatrix};
use rten_tensor::NdTensorView;
use serde::Deserialize;

/// Why a file of weights is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WeightsError {
    /// Its first line.
    #[error("the first line of the weights is not what it should be: {0}")]
    Head(#[from] serde_json::Error),
    /// Another form, or other sizes than this program knows.
    #[error("the weights have another form than this program reads: {0}")]
    Form(&'static str),
    /// It ends too early, or goes on.
    #[error("the weights are cut off, or have something behind their end")]
    Length,
}

/// What the first line says.
#[derive(Debug, Deserialize)]
pub(crate) struct Head {
    pub(crate) words: usize,
    pub(crate) places: usize,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    /// A score is `a` times the likeness of words and tool, and `b`.
    pub(crate) a: f32,
    pub(crate) b: f32,
    /// From here on a tool counts as asked for.
    pub(crate) upper: f32,
    /// Below it does not.
    pub(crate) lower: f32,
}

/// Sizes beyond these are no weights of ours.
const WIDTH_MAX: usize = 1024;
const WORDS_MAX: usize = 1 << 18;
const LAYERS_MAX: usize = 24;

impl Head {
    fn check(&self) -> Result<(), WeightsError> {
        let fits = self.width <= WIDTH_MAX
            && self.words <= WORDS_MAX
            && self.places <= WIDTH_MAX
            && self.layers <= LAYERS_MAX;
        let is_whole = self.heads > 0 && self.width > 0 && self.width.is_multiple_of(self.heads);
        match fits && is_whole && self.lower <= self.upper {
            true => Ok(()),
            false => Err(WeightsError::Form("sizes")),
        }
    }
}

/// Reads numbers one after another.
pub(crate) struct Weights {
    rest: &'static [u8],
}

impl Weights {
    pub(crate) fn open(file: &'static [u8]) -> Result<(Head, Self), WeightsError> {
        let end = file.iter().position(|it| *it == b'\n').ok_or(WeightsError::Length)?;
        let (line, rest) = file.split_at_checked(end).ok_or(WeightsError::Length)?;
        let head: Head = serde_json::from_slice(line)?;
        head.check()?;
        Ok((head, Self { rest: rest.get(1..).unwrap_or_default() }))
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'static [u8], WeightsError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(WeightsError::Length)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn floats(&mut self, count: usize) -> Result<Vec<f32>, WeightsError> {
        let bytes = self.bytes(count.saturating_mul(4))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|it| f32::from_le_bytes(*it)).collect())
    }

    /// A layer that multiplies, from `inputs` to `outputs`.
    pub(crate) fn dense(
        &mut self,
        executor: &GemmExecutor<u8, i8, i32>,
        (inputs, outputs): (usize, usize),
    ) -> Result<Dense, WeightsError> {
        let bytes = self.bytes(inputs.saturating_mul(outputs))?;
        let small: Vec<i8> = bytes.iter().map(|it| it.cast_signed()).collect();
        let matrix = NdTensorView::try_from_data([inputs, outputs], small.as_slice())
            .map_err(|_| WeightsError::Length)?;
        let weights = executor.prepack_b(matrix);
        Ok(Dense { weights, scales: self.floats(outputs)?, bias: self.floats(outputs)?, inputs })
    }

    /// Nothing may be left.
    pub(crate) fn close(self) -> Result<(), WeightsError> {
        if self.rest.is_empty() { Ok(()) } else { Err(WeightsError::Length) }
    }
}

/// A matrix of small whole numbers, with a scale and a bias for each column.
pub(crate) struct Dense {
    pub(crate) weights: PackedBMatrix<i8>,
    pub(crate) scales: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) inputs: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_whole_is_refused() {
        let head = br#"{"words":1,"places":1,"width":4,"heads":2,"layers":1,"a":1,"b":0,"upper":1,"lower":0}"#;
        let cut = head.to_vec().leak();
        assert!(matches!(Weights::open(cut), Err(WeightsError::Length)));
        let whole = [head.as_slice(), b"\n\0\0\0"].concat().leak();
        let (_, mut weights) = Weights::open(whole).unwrap();
        assert!(weights.floats(1).is_err());
        assert!(weights.close().is_err());
        for bad in [&br#"{"words":1}"#[..], b"x", br#"{"words":1,"places":1,"width":5,"heads":2,"layers":1,"a":1,"b":0,"upper":1,"lower":0}"#] {
            let file = [bad, b"\n"].concat().leak();
            assert!(Weights::open(file).is_err());
        }
    }
}
