//! Exports that are made or sent: few at once, and one of each user. Each holds a whole zip, and while it is made one of the
//! few threads on which everybody's tokens are looked up.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::limits::{EXPORT_SENT_WITHIN, EXPORTS_AT_ONCE_MAX};

/// Whose exports are under way.
#[derive(Clone, Default)]
pub(crate) struct Exports(Arc<Mutex<Vec<String>>>);

/// One that is under way, until it is dropped.
pub(crate) struct Export {
    exports: Exports,
    user: String,
}

/// Bytes that are handed on at a time: the rest waits until they were taken.
const PIECE_BYTES: usize = 64 << 10;

impl Exports {
    /// Begins one. None if the user has one already, or there are too many.
    pub(crate) fn begin(&self, user: &str) -> Option<Export> {
        let mut all = self.lock();
        if all.len() >= EXPORTS_AT_ONCE_MAX || all.iter().any(|it| it == user) {
            return None;
        }
        all.push(user.to_owned());
        Some(Export { exports: self.clone(), user: user.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Export {
    /// What it made, as a body that is under way until it was taken.
    pub(crate) fn sent(self, zip: Vec<u8>) -> Sent {
        Sent { rest: zip.into(), until: Instant::now() + EXPORT_SENT_WITHIN, _export: self }
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.exports.lock().retain(|it| *it != self.user);
    }
}

/// A zip on its way.
pub(crate) struct Sent {
    rest: Bytes,
    until: Instant,
    _export: Export,
}

impl Body for Sent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !self.rest.is_empty() && Instant::now() > self.until {
            return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
        }
        let bytes = self.rest.len().min(PIECE_BYTES);
        let piece = (bytes > 0).then(|| Ok(Frame::data(self.rest.split_to(bytes))));
        Poll::Ready(piece)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len().try_into().unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_user_and_few_in_all_until_they_were_taken() {
        let exports = Exports::default();
        let mut ann = exports.begin("ann").unwrap().sent(vec![1; PIECE_BYTES + 5]);
        assert!(exports.begin("ann").is_none());
        let bob = exports.begin("bob").unwrap();
        assert_eq!(exports.lock().len(), EXPORTS_AT_ONCE_MAX);
        assert!(exports.begin("cyd").is_none());
        drop(bob);
        assert!(exports.begin("cyd").is_some());
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut lengths = Vec::new();
        assert_eq!(ann.size_hint().exact(), Some(PIECE_BYTES as u64 + 5));
        while let Poll::Ready(Some(Ok(piece))) = Pin::new(&mut ann).poll_frame(&mut context) {
            assert!(exports.begin("ann").is_none());
            lengths.push(piece.into_data().unwrap().len());
        }
        assert_eq!(lengths, [PIECE_BYTES, 5]);
        drop(ann);
        assert!(exports.begin("ann").is_some());
    }
}
