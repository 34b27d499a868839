# what: no socket makes the kernel load a protocol that hardly anybody uses
# expect: EPERM
for what, (kind, protocol) in {
    "sctp": (1, 132), "sctp messages": (5, 132), "dccp": (6, 33), "udplite": (2, 136), "l2tp": (2, 115), "smc": (1, 256),
    "sctp with flags": (1 | 0x80000, 132), "igmp": (2, 2), "esp": (2, 50), "high bits": (1, (1 << 32) | 132),
}.items():
    for family in [2, 10]:
        attempt(f"{what} {family}", lambda: call(41 if X86_64 else 198, family, kind, protocol))
