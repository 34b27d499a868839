"""Normal form C by the tables of the pinned version of Unicode, never by those of the interpreter.

`unicode16.json` is written by make_unicode.py. UAX #15; Hangul by arithmetic, as in the Unicode Standard, section 3.12.
"""

import bisect
import json
from pathlib import Path

_DATA = json.loads((Path(__file__).resolve().parent / "unicode16.json").read_text(encoding="ascii"))
_KNOWN = _DATA["known"]
_FIRST = [first for first, _ in _KNOWN]
_FULL = {code: full for code, *full in _DATA["decompositions"]}
_CLASS = dict(_DATA["classes"])
_PAIR = {(first, second): composed for first, second, composed in _DATA["pairs"]}

_S, _L, _V, _T = 0xAC00, 0x1100, 0x1161, 0x11A7
_L_COUNT, _V_COUNT, _T_COUNT = 19, 21, 28
_S_COUNT = _L_COUNT * _V_COUNT * _T_COUNT


def is_known(code):
    at = bisect.bisect_right(_FIRST, code) - 1
    return code <= _KNOWN[at][1]


def all_known(text):
    return text.isascii() or all(is_known(ord(char)) for char in text)


def nfc(text):
    if text.isascii():
        return text
    codes = [code for char in text for code in _decompose(ord(char))]
    return "".join(map(chr, _compose(_order(codes))))


def _decompose(code):
    if not _S <= code < _S + _S_COUNT:
        return _FULL.get(code, (code,))
    lead, rest = divmod(code - _S, _V_COUNT * _T_COUNT)
    vowel, tail = divmod(rest, _T_COUNT)
    return [_L + lead, _V + vowel] + ([_T + tail] if tail else [])


def _order(codes):
    """Sorts each run of marks by combining class; equal ones keep their order."""
    out, start = [], 0
    for at, code in enumerate(codes + [0]):
        if _CLASS.get(code, 0) == 0:
            out += sorted(codes[start:at], key=lambda it: _CLASS.get(it, 0))
            out += codes[at : at + 1]
            start = at + 1
    return out


def _pair(first, second):
    if _L <= first < _L + _L_COUNT and _V <= second < _V + _V_COUNT:
        return _S + ((first - _L) * _V_COUNT + second - _V) * _T_COUNT
    without_tail = _S <= first < _S + _S_COUNT and (first - _S) % _T_COUNT == 0
    if without_tail and _T < second < _T + _T_COUNT:
        return first + second - _T
    return _PAIR.get((first, second))


def _compose(codes):
    out, starter, last = [], None, 0
    for code in codes:
        combining = _CLASS.get(code, 0)
        # Nothing between the starter and a mark may have its class or none.
        blocked = starter is None or (last >= combining and starter != len(out) - 1)
        composed = None if blocked else _pair(out[starter], code)
        if composed is not None:
            out[starter] = composed
            continue
        if combining == 0:
            starter = len(out)
        last = combining
        out.append(code)
    return out
