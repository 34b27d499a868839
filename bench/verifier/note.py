"""Signed notes and Ed25519 (RFC 8032), in nothing but the standard library. Slow, and only verifies."""

import base64
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)


def _add(a, b):
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    e = (y1 - x1) * (y2 - x2) % P
    f = (y1 + x1) * (y2 + x2) % P
    g = 2 * t1 * t2 * D % P
    h = 2 * z1 * z2 % P
    e, g, i, j = f - e, h - g, h + g, f + e
    return (e * g % P, i * j % P, g * i % P, e * j % P)


def _times(scalar, point):
    out = IDENTITY
    while scalar:
        if scalar & 1:
            out = _add(out, point)
        point = _add(point, point)
        scalar >>= 1
    return out


def _same(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def _point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def verifies(public, message, signature):
    if len(public) != 32 or len(signature) != 64:
        return False
    a, r = _point(public), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    return _same(_times(s, BASE), _add(r, _times(h, a)))


def read_key(text):
    """`<name>+<id>+<base64>`: name, id, public key."""
    name, key_id, data = text.strip().split("+", 2)
    data = base64.b64decode(data, validate=True)
    wanted = hashlib.sha256(name.encode() + b"\n" + data).digest()[:4].hex()
    if data[:1] != b"\x01" or len(data) != 33 or key_id != wanted:
        raise ValueError("no key")
    return name, bytes.fromhex(key_id), data[1:]


def split(data):
    """The text of a note, and its signatures as (name, id, signature)."""
    if len(data) > 1 << 20:
        raise ValueError("too long")
    text = data.decode("utf-8")
    if any(char < " " and char != "\n" for char in text):
        raise ValueError("a control character")
    body, blank, lines = text.rpartition("\n\n")
    if not blank or not lines.endswith("\n"):
        raise ValueError("no signatures")
    signatures = []
    for line in lines[:-1].split("\n"):
        dash, name, data = line.split(" ")
        data = base64.b64decode(data, validate=True)
        if dash != "\u2014" or len(data) < 5:
            raise ValueError("no signature")
        signatures.append((name, data[:4], data[4:]))
    return body + "\n", signatures


def is_signed(data, key):
    name, key_id, public = read_key(key)
    text, signatures = split(data)
    mine = [it for it in signatures if it[0] == name and it[1] == key_id]
    return bool(mine) and all(verifies(public, text.encode(), it[2]) for it in mine)
