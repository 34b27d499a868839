//! Bodies on their way through: counted, and on the way out bounded.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use scan::net::Refused;
use tokio::task::AbortHandle;

use crate::carried::Carried;
use crate::rules::too_much;

/// Why a body ended early.
#[derive(Debug, thiserror::Error)]
pub enum Cut {
    /// More was to be carried than may be.
    #[error(transparent)]
    TooMuch(#[from] Refused),
    /// Who sends it broke off, or said what is no HTTP.
    #[error(transparent)]
    Sender(#[from] hyper::Error),
}

/// The next bytes of a body; none at its end.
fn poll_data(
    body: &mut Incoming,
    context: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, hyper::Error>> {
    let frame = ready!(Pin::new(body).poll_frame(context)).transpose()?;
    // What stands behind a body concerns this connection alone.
    Poll::Ready(Ok(frame.and_then(|it| it.into_data().ok())))
}

/// A body on its way out.
pub(crate) struct Leaving {
    pub(crate) inner: Incoming,
    pub(crate) carried: Arc<Carried>,
    /// The longest that it may be, in bytes.
    pub(crate) bytes_max: u64,
}

impl Body for Leaving {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let Some(data) = ready!(poll_data(&mut self.inner, context)?) else {
            return Poll::Ready(None);
        };
        let total = self.carried.sent().saturating_add(data.len() as u64);
        if total > self.bytes_max {
            let refused = too_much(self.bytes_max);
            self.carried.cut_off_by(refused.clone());
            return Poll::Ready(Some(Err(refused.into())));
        }
        let counted = self.carried.send(data.len());
        Poll::Ready(Some(counted.map(|()| Frame::data(data)).map_err(Cut::from)))
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
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let Some(data) = ready!(poll_data(&mut self.inner, context)?) else {
            return Poll::Ready(None);
        };
        let counted = self.carried.receive(data.len());
        Poll::Ready(Some(counted.map(|()| Frame::data(data)).map_err(Cut::from)))
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
