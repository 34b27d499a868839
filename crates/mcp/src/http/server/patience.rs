//! A connection whose client takes what it is sent, or loses it: answers that nobody reads do not stay in memory.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream on which no write waits longer than this.
pub(super) struct Patience<S> {
    stream: S,
    wait: Duration,
    /// Runs while the other side takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Patience<S> {
    pub(super) fn new(stream: S, wait: Duration) -> Self {
        Self { stream, wait, stalled: None }
    }

    /// Passes on what became of a write; an error, where it has waited for too long.
    fn watched<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let wait = self.wait;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(wait)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patience<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patience<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.watched(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.watched(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.watched(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.stream).poll_shutdown(context);
        this.watched(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[test]
    fn who_takes_nothing_is_not_waited_for_and_who_is_slow_is() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (near, mut far) = tokio::io::duplex(16);
            let mut near = Patience::new(near, Duration::from_secs(3));
            let slow = tokio::spawn(async move {
                let mut taken = Vec::new();
                let mut piece = [0; 8];
                while taken.len() < 64 {
                    sleep(Duration::from_millis(20)).await;
                    let count = far.read(&mut piece).await.unwrap();
                    taken.extend_from_slice(piece.get(..count).unwrap());
                }
                far
            });
            near.write_all(&[1; 64]).await.unwrap();
            let _open = slow.await.unwrap();
            let refused = near.write_all(&[1; 64]).await.unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        });
    }
}
