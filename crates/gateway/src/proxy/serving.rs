//! A proxy at a listener, that of a cage or of everybody, which ends when it is dropped.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::Proxy;

/// Threads that carry bytes for one cage.
const CAGE_THREADS: usize = 2;
/// How long calls at the gate may take when a cage has ended. Tunnels end at once.
const CAGE_GRACE: Duration = Duration::from_millis(200);
/// How long tunnels of programs may go on when their proxy is to end.
const GRACE: Duration = Duration::from_secs(2);

/// A proxy that serves. Dropped, it ends, and every connection with it.
pub struct Serving {
    runtime: Option<Runtime>,
    grace: Duration,
}

impl Serving {
    /// Answers at the `listener` of one cage.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn begin(proxy: Arc<Proxy>, listener: TcpListener) -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(CAGE_THREADS).thread_name("cage-way");
        Self::on(builder, CAGE_GRACE, proxy, listener)
    }

    /// Answers at a `listener` for whichever programs come, with as many threads as there are processors.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn begin_for_all(proxy: Arc<Proxy>, listener: TcpListener) -> io::Result<Self> {
        Self::on(Builder::new_multi_thread(), GRACE, proxy, listener)
    }

    fn on(
        mut builder: Builder,
        grace: Duration,
        proxy: Arc<Proxy>,
        listener: TcpListener,
    ) -> io::Result<Self> {
        let runtime = builder.enable_all().build()?;
        listener.set_nonblocking(true)?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        runtime.spawn(proxy.serve(listener));
        Ok(Self { runtime: Some(runtime), grace })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(self.grace);
        }
    }
}
