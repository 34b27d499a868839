# what: no datagram leaves, and so no question to a name server
# expect: ECONNREFUSED EACCES EPERM ENETUNREACH


def udp(address, port):
    it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    it.settimeout(1)
    it.connect((address, port))
    it.send(b"hello")
    it.send(b"hello")
    return it.recv(10)


attempt("udp to the host", lambda: udp("127.0.0.1", int(env["UDP"])))
attempt("a name server of the host", lambda: udp("127.0.0.53", 53))


def route():
    it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # Nothing is sent by this: it only asks for a way.
    it.connect(("192.0.2.1", 53))
    return it.getsockname()


attempt("a way to the network", route)
