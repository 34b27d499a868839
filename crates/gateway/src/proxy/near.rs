//! A program's connection: its place among all, whether anything moves, and how it ends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::door::Guest;

/// What is thrown away at a time, in bytes.
const WASTE_BYTES: usize = 16 << 10;

/// A program's connection.
pub(crate) struct Near {
    stream: TcpStream,
    guest: Arc<Guest>,
    moved: Arc<AtomicU64>,
    linger: Duration,
    ending: Option<Pin<Box<Sleep>>>,
}

impl Near {
    pub(crate) fn new(stream: TcpStream, guest: Arc<Guest>, linger: Duration) -> Self {
        Self { stream, guest, moved: Arc::default(), linger, ending: None }
    }

    /// A count that grows while anything moves.
    pub(crate) fn moved(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.moved)
    }

    /// The connection, and who keeps its place.
    pub(crate) fn into_parts(self) -> (TcpStream, Arc<Guest>) {
        (self.stream, self.guest)
    }

    fn count<T>(&self, polled: Poll<T>) -> Poll<T> {
        if polled.is_ready() {
            self.moved.fetch_add(1, Ordering::Relaxed);
        }
        polled
    }
}

/// Ends when `moved` has stood still for `limit`.
pub(crate) async fn stands_still(moved: &AtomicU64, limit: Duration) {
    loop {
        let before = moved.load(Ordering::Relaxed);
        sleep(limit).await;
        if moved.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

impl AsyncRead for Near {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.count(polled)
    }
}

impl AsyncWrite for Near {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.count(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.count(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// Says that we are done, and hears the program out for a moment: a system that closes a connection on
    /// which something is still unread takes back what was written last, and that is the refusal.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ending.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            self.ending = Some(Box::pin(sleep(self.linger)));
        }
        if let Some(ending) = &mut self.ending
            && ending.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Ok(()));
        }
        let mut waste = [0; WASTE_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut waste);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
