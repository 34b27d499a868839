//! A stream whose other side has to take what it is sent: whoever asks on and on and never reads would keep a place that
//! others need, and nothing above this notices.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The stream, and since when it takes nothing.
pub(crate) struct Taken<S> {
    inner: S,
    at_most: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S: Unpin> Taken<S> {
    /// Its other side may take nothing for so long.
    pub(crate) fn within(at_most: Duration, inner: S) -> Self {
        Self { inner, at_most, waiting: None }
    }

    fn sent<T>(
        &mut self,
        context: &mut Context<'_>,
        send: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let sent = send(Pin::new(&mut self.inner), context);
        if sent.is_ready() {
            self.waiting = None;
            return sent;
        }
        let at_most = self.at_most;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(at_most)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Taken<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Taken<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.sent(context, |inner, context| inner.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.sent(context, |inner, context| inner.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.sent(context, |inner, context| inner.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.sent(context, |inner, context| inner.poll_shutdown(context))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn whoever_takes_nothing_is_left_and_whoever_is_slow_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = tokio::io::duplex(8);
            let mut server = Taken::within(Duration::from_secs(600), server);
            let slow = async {
                let mut read = [0; 1];
                for _ in 0..16 {
                    client.read_exact(&mut read).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            let (sent, ()) = tokio::join!(server.write_all(&[b'x'; 24]), slow);
            sent.unwrap();
            let mut server = Taken::within(Duration::from_millis(1), server.inner);
            let error = server.write_all(b"more than there is room for").await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        });
    }
}
