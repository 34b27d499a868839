"""Signed notes and Ed25519 (RFC 8032), in nothing but the standard library. Slow, and only verifies."""

import base64
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)

NOTE_BYTES_MAX = 1 << 20
SIGNATURES_MAX = 100
# The characters with the property White_Space, whatever the interpreter takes for one.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


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
    if a is None or r is None or s >= L or _is_small(a) or _is_small(r):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    return _same(_times(s, BASE), _add(r, _times(h, a)))


def _is_small(point):
    """Under a key of small order one signature fits many texts."""
    return _same(_times(8, point), IDENTITY)


def _base64(text):
    """As RFC 4648 section 4 writes it and no other way: padded, and no bits to spare."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("base64 that is not written so")
    return data


def _name(text):
    if not text or any(char == "+" or char < " " or char in WHITE_SPACE for char in text):
        raise ValueError("no name of a key")
    return text


def read_key(text):
    """`<name>+<id>+<base64>`: name, id, public key."""
    name, key_id, data = text.strip().split("+", 2)
    name, data = _name(name), _base64(data)
    wanted = hashlib.sha256(name.encode() + b"\n" + data).digest()[:4].hex()
    if data[:1] != b"\x01" or len(data) != 33 or key_id != wanted:
        raise ValueError("no key")
    return name, bytes.fromhex(key_id), data[1:]


def split(data):
    """The text of a note, and its signatures as (name, id, signature)."""
    if len(data) > NOTE_BYTES_MAX:
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
        data = _base64(data)
        if dash != "\u2014" or len(data) < 5:
            raise ValueError("no signature")
        signatures.append((_name(name), data[:4], data[4:]))
    if len(signatures) > SIGNATURES_MAX:
        raise ValueError("too many signatures")
    return body + "\n", signatures


def is_signed(data, key):
    name, key_id, public = read_key(key)
    text, signatures = split(data)
    mine = [it for it in signatures if it[0] == name and it[1] == key_id]
    return bool(mine) and all(verifies(public, text.encode(), it[2]) for it in mine)
