# what: sockets of the host that have a path are not reached
# expect: ENOENT EPERM EACCES
out = env["OUTSIDE"]


def stream(path):
    it = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    it.settimeout(2)
    it.connect(path)
    return it.recv(100)


def datagram(path):
    it = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    return it.sendto(b"hello", path)


def pair(path, kind, connect):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    if connect:
        one.connect(path)
        return one.send(b"hello")
    return one.sendto(b"hello", path)


attempt("stream", lambda: stream(f"{out}/stream.sock"))
attempt("datagram", lambda: datagram(f"{out}/datagram.sock"))
for kind in [socket.SOCK_DGRAM, socket.SOCK_RAW]:
    attempt(f"a pair of {kind}, connected anew", lambda: pair(f"{out}/datagram.sock", kind, True))
    attempt(f"a pair of {kind}, sent elsewhere", lambda: pair(f"{out}/datagram.sock", kind, False))
attempt("through a link", lambda: stream("links/outside/stream.sock"))
for path in ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "/tmp/.X11-unix/X0"]:
    attempt(path, lambda: stream(path))
