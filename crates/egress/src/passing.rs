//! Bodies on their way through: counted, and on the way out bounded.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::task::AbortHandle;

use crate::carried::Carried;

/// Why a body that goes out ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cut {
    #[error("more was sent than may be")]
    TooMuch,
    #[error(transparent)]
    Client(#[from] hyper::Error),
}

/// A body on its way out.
pub(crate) struct Leaving {
    pub(crate) inner: Incoming,
    pub(crate) carried: Arc<Carried>,
    /// What may still be sent, in bytes.
    pub(crate) left: u64,
}

impl Body for Leaving {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        let frame = match polled {
            Poll::Ready(Some(Ok(frame))) => frame,
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => return Poll::Pending,
        };
        // What stands behind a body concerns this connection alone.
        let Ok(data) = frame.into_data() else { return Poll::Ready(None) };
        let Some(left) = self.left.checked_sub(data.len() as u64) else {
            self.carried.went_over();
            return Poll::Ready(Some(Err(Cut::TooMuch)));
        };
        self.left = left;
        self.carried.add_sent(data.len());
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A body that comes back. When nobody wants more of it, its connection ends.
pub struct Arriving {
    pub(crate) inner: Incoming,
    pub(crate) carried: Arc<Carried>,
    pub(crate) _connection: Driven,
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        match polled {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => {
                    self.carried.add_received(data.len());
                    Poll::Ready(Some(Ok(Frame::data(data))))
                }
                Err(_) => Poll::Ready(None),
            },
            Poll::Ready(other) => Poll::Ready(other),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A task that works on a connection for as long as somebody wants it.
pub(crate) struct Driven(pub(crate) AbortHandle);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.abort();
    }
}
