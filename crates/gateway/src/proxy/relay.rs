//! Bytes through a tunnel, both ways, until both ends are done or nothing comes any more.

use std::io;

use bytes::Bytes;
use egress::Carried;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::bounds::Bounds;

/// Room for what is on its way, in bytes. It is there only while there is something.
const BUFFER_BYTES: usize = 64 << 10;

/// How often a buffer is filled before others have their turn.
const TURN: usize = 16;

/// Carries bytes between `near`, of which `early` was read already, and `far`.
pub(crate) async fn relay(
    mut near: TcpStream,
    early: Bytes,
    mut far: TcpStream,
    carried: &Carried,
    bounds: &Bounds,
) -> io::Result<()> {
    let (near_in, near_out) = near.split();
    let (far_in, mut far_out) = far.split();
    let one_ended = Notify::new();
    let send = |bytes: usize| carried.send(bytes).map_err(io::Error::other);
    let receive = |bytes: usize| carried.receive(bytes).map_err(io::Error::other);
    let out = async {
        if !early.is_empty() {
            send(early.len())?;
            far_out.write_all(&early).await?;
        }
        pump(near_in, far_out, send).await?;
        one_ended.notify_one();
        Ok(())
    };
    let back = async {
        pump(far_in, near_out, receive).await?;
        one_ended.notify_one();
        Ok(())
    };
    let both = async { tokio::try_join!(out, back) };
    tokio::select! {
        ended = both => ended.map(|_: ((), ())| ()),
        () = silence(carried, &one_ended, bounds) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Carries bytes one way until they end, or are not to go on: `count` is told before they do.
async fn pump(
    from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    count: impl Fn(usize) -> io::Result<()>,
) -> io::Result<()> {
    loop {
        from.readable().await?;
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        for _ in 0..TURN {
            buffer.clear();
            match from.try_read_buf(&mut buffer) {
                // The other way may still have something to say.
                Ok(0) => return to.shutdown().await,
                Ok(read) => {
                    count(read)?;
                    to.write_all(&buffer).await?;
                    // What comes in small pieces is not there yet: asking again would be for nothing.
                    if read < BUFFER_BYTES / 2 {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Ends when nothing has been carried for too long.
async fn silence(carried: &Carried, one_ended: &Notify, bounds: &Bounds) {
    let sum = || carried.sent().wrapping_add(carried.received());
    let mut limit = bounds.silence;
    loop {
        let before = sum();
        tokio::select! {
            () = sleep(limit) => if sum() == before { return },
            () = one_ended.notified(), if limit != bounds.half_closed => limit = bounds.half_closed,
        }
    }
}
