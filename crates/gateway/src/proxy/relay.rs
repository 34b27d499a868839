//! Bytes through a tunnel, both ways, until both ends are done or nothing comes any more.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::{Instant, sleep_until};

/// A tunnel through which nothing comes for so long is closed.
const SILENCE_MAX: Duration = Duration::from_secs(600);
/// Room for what is on its way, in bytes. It is there only while there is something.
const BUFFER_BYTES: usize = 64 << 10;

/// How much went through.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    pub(crate) out: AtomicU64,
    pub(crate) back: AtomicU64,
}

/// Carries bytes between `near`, of which `early` was read already, and `far`.
pub(crate) async fn relay(
    mut near: TcpStream,
    early: Bytes,
    mut far: TcpStream,
    carried: &Carried,
) -> io::Result<()> {
    if !early.is_empty() {
        far.write_all(&early).await?;
        carried.out.fetch_add(early.len() as u64, Ordering::Relaxed);
    }
    let (near_in, near_out) = near.split();
    let (far_in, far_out) = far.split();
    let both = async {
        tokio::try_join!(
            pump(near_in, far_out, &carried.out),
            pump(far_in, near_out, &carried.back)
        )
    };
    tokio::select! {
        ended = both => ended.map(|_| ()),
        () = silence(carried) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Carries bytes one way until they end.
async fn pump(from: ReadHalf<'_>, mut to: WriteHalf<'_>, count: &AtomicU64) -> io::Result<()> {
    loop {
        from.readable().await?;
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = match from.try_read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            if read == 0 {
                // The other way may still have something to say.
                return to.shutdown().await;
            }
            to.write_all(buffer.get(..read).unwrap_or_default()).await?;
            count.fetch_add(read as u64, Ordering::Relaxed);
        }
    }
}

/// Ends when nothing has been carried for too long.
async fn silence(carried: &Carried) {
    let sum = || {
        let Carried { out, back } = carried;
        out.load(Ordering::Relaxed).wrapping_add(back.load(Ordering::Relaxed))
    };
    loop {
        let before = sum();
        sleep_until(Instant::now() + SILENCE_MAX).await;
        if sum() == before {
            return;
        }
    }
}
