# what: raw, packet and virtual machine sockets and everything exotic do not exist
# expect: EPERM
RAW = socket.SOCK_RAW
families = {
    "packet": (17, RAW, 0x300), "packet datagram": (17, socket.SOCK_DGRAM, 0x300), "vsock": (40, socket.SOCK_STREAM, 0),
    "raw": (2, RAW, 1), "raw 6": (10, RAW, 58), "raw with flags": (2, RAW | 0x80000, 255), "alg": (38, 5, 0),
    "bluetooth": (31, RAW, 1), "can": (29, RAW, 1), "tipc": (30, 5, 0), "xdp": (44, RAW, 0), "key": (15, RAW, 2),
    "rds": (21, 5, 0), "ax25": (3, 5, 0), "netrom": (6, 5, 0), "x25": (9, 5, 0), "kcm": (41, 5, 0), "smc": (43, 1, 0),
    "qipcrtr": (42, 2, 0), "nfc": (39, 5, 0), "phonet": (35, 2, 0), "ieee802154": (36, 2, 0), "mctp": (45, 2, 0),
    "netlink audit": (16, RAW, 9), "netlink netfilter": (16, RAW, 12), "netlink xfrm": (16, RAW, 6), "netlink generic": (16, RAW, 16),
    "netlink uevent": (16, RAW, 15), "netlink connector": (16, RAW, 11), "netlink diag": (16, RAW, 4), "a family that is none": (99, 1, 0),
}
for what, (family, kind, protocol) in families.items():
    attempt(what, lambda: call(41 if X86_64 else 198, family, kind, protocol))
# The upper half of an argument is not looked at by the kernel, and hides nothing.
attempt("packet with high bits", lambda: call(41 if X86_64 else 198, (1 << 32) | 17, RAW, 0x300))
spare = (ctypes.c_int * 2)()
for what, family in {"tipc": 30, "vsock": 40, "inet": 2, "alg": 38}.items():
    attempt(f"a pair of {what}", lambda: call(53 if X86_64 else 199, family, 5, 0, spare))
