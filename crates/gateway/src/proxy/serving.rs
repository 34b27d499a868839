//! A proxy before one cage: it answers at the cage's listener, and ends with it.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::Proxy;

/// Threads that carry bytes for one cage.
const THREADS: usize = 2;
/// How long calls at the gate may take when it is to end. Tunnels end at once.
const GRACE: Duration = Duration::from_millis(200);

/// A proxy that serves one cage. Dropped, it ends, and every connection with it.
pub struct Serving(Option<Runtime>);

impl Serving {
    /// Answers at `listener`.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn begin(proxy: Arc<Proxy>, listener: TcpListener) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("cage-way")
            .enable_all()
            .build()?;
        listener.set_nonblocking(true)?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        runtime.spawn(proxy.serve(listener));
        Ok(Self(Some(runtime)))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_timeout(GRACE);
        }
    }
}
