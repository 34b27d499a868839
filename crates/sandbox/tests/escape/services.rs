//! Services of the host that nobody inside may reach. Whoever does is counted.

use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Open while this is there, and a moment longer.
pub(crate) struct Services {
    pub(crate) tcp: u16,
    pub(crate) udp: u16,
    pub(crate) abstract_name: String,
    pub(crate) reached: Arc<AtomicUsize>,
}

impl Services {
    /// Listens everywhere; sockets with a path lie in `dir`.
    pub(crate) fn listen(dir: &Path, name: &str) -> Self {
        let reached = Arc::new(AtomicUsize::new(0));
        let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let udp = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let hidden = UnixListener::bind_addr(&address).unwrap();
        let stream = UnixListener::bind(dir.join("stream.sock")).unwrap();
        let datagram = UnixDatagram::bind(dir.join("datagram.sock")).unwrap();
        for it in ["stream.sock", "datagram.sock"] {
            let open = std::fs::Permissions::from_mode(0o777);
            std::fs::set_permissions(dir.join(it), open).unwrap();
        }
        let all = Self {
            tcp: tcp.local_addr().unwrap().port(),
            udp: udp.local_addr().unwrap().port(),
            abstract_name: name.to_owned(),
            reached: Arc::clone(&reached),
        };
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        hidden.set_nonblocking(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        datagram.set_nonblocking(true).unwrap();
        // Ends when nobody holds the count any more.
        std::thread::spawn(move || {
            let mut bytes = [0; 64];
            while Arc::strong_count(&reached) > 1 {
                let answer = |it: &mut dyn Write| it.write_all(b"reached\n").is_ok();
                let any = tcp.accept().is_ok_and(|mut it| answer(&mut it.0))
                    | hidden.accept().is_ok_and(|mut it| answer(&mut it.0))
                    | stream.accept().is_ok_and(|mut it| answer(&mut it.0))
                    | udp.recv(&mut bytes).is_ok()
                    | datagram.recv(&mut bytes).is_ok();
                if any {
                    reached.fetch_add(1, Ordering::SeqCst);
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        all
    }

    /// How often somebody came.
    pub(crate) fn reached(&self) -> usize {
        std::thread::sleep(std::time::Duration::from_millis(15));
        self.reached.load(Ordering::SeqCst)
    }
}
