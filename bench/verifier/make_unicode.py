#!/usr/bin/env python3
"""Writes the tables of the pinned version of Unicode: the code points that it knows, for `aegx` and for the
verifier beside this script, and what normal form C takes, for the latter alone.

usage: make_unicode.py REGEX_SYNTAX UNICODE_NORMALIZATION    folders of the two crates, as cargo unpacked them

Ages are those of regex-syntax 0.8.11 (`unicode_tables/age.rs`), the rest is of unicode-normalization 0.1.26
(`tables.rs`), without what is younger than the pinned version. Both are held against the `unicodedata` of the
interpreter, as far as that goes.
"""

import json
import re
import sys
import unicodedata
from pathlib import Path

VERSION = (16, 0)
HERE = Path(__file__).resolve().parent
RUST = HERE.parents[1] / "crates" / "aegx" / "src" / "assigned" / "table.rs"
RUST_COLUMNS_MAX = 100
CHAR = r"'(\\u\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\.|[^'\\])'"


def code_point(literal):
    if literal.startswith("\\u"):
        return int(literal[3:-1], 16)
    if literal.startswith("\\x"):
        return int(literal[2:], 16)
    return ord({"\\0": "\0", "\\n": "\n", "\\r": "\r", "\\t": "\t"}.get(literal, literal[-1]))


def known_ranges(folder):
    """The code points of age VERSION or older, as sorted ranges that do not touch."""
    text = (folder / "src" / "unicode_tables" / "age.rs").read_text()
    pairs = []
    for table in re.finditer(r"pub const V(\d+)_(\d+): [^=]+=\s*&\[(.*?)\];", text, re.S):
        if (int(table[1]), int(table[2])) <= VERSION:
            found = re.findall(rf"\(\s*{CHAR},\s*{CHAR},?\s*\)", table[3])
            pairs += [(code_point(a), code_point(b)) for a, b in found]
    out = []
    for first, last in sorted(pairs):
        if out and first <= out[-1][1] + 1:
            out[-1][1] = max(last, out[-1][1])
        else:
            out.append([first, last])
    return out


def table(text, name):
    return re.search(rf"const {name}: [^=]+=\s*&\[(.*?)\n\];", text, re.S)[1]


def normalization(folder, known):
    """Full decompositions, combining classes and pairs that compose, of known code points alone."""
    text = (folder / "src" / "tables.rs").read_text()
    chars = [code_point(it) for it in re.findall(CHAR, table(text, "CANONICAL_DECOMPOSED_CHARS"))]
    decompositions = {}
    entry = r"\((0x[0-9A-F]+), \((0x[0-9A-F]+), (0x[0-9A-F]+)\)\)"
    for code, at, length in re.findall(entry, table(text, "CANONICAL_DECOMPOSED_KV")):
        code, at, length = int(code, 16), int(at, 16), int(length, 16)
        if code in known:
            decompositions[code] = chars[at : at + length]
    classes = {}
    for packed in re.findall(r"0x[0-9A-F]+", table(text, "CANONICAL_COMBINING_CLASS_KV")):
        code, combining = int(packed, 16) >> 8, int(packed, 16) & 0xFF
        if code in known and combining:
            classes[code] = combining
    pairs = {}
    for packed, composed in re.findall(rf"\((0x[0-9A-F]+), {CHAR}\)", table(text, "COMPOSITION_TABLE_KV")):
        pairs[int(packed, 16) >> 16, int(packed, 16) & 0xFFFF] = code_point(composed)
    body = text[text.index("fn composition_table_astral") :]
    body = body[: body.index("\n}")]
    for first, second, composed in re.findall(rf"\({CHAR}, {CHAR}\) => Some\({CHAR}\)", body):
        pairs[code_point(first), code_point(second)] = code_point(composed)
    pairs = {pair: it for pair, it in pairs.items() if it in known}
    return decompositions, classes, pairs


def hold_against_the_interpreter(known, decompositions, classes, pairs):
    for code in range(0x110000):
        char = chr(code)
        if 0xD800 <= code < 0xE000 or unicodedata.category(char) == "Cn":
            continue
        assert code in known, hex(code)
        assert classes.get(code, 0) == unicodedata.combining(char), hex(code)
        full = [ord(it) for it in unicodedata.normalize("NFD", char)]
        assert 0xAC00 <= code < 0xD7A4 or decompositions.get(code, [code]) == full, hex(code)
        if len(full) > 1 and unicodedata.is_normalized("NFC", char) and not 0xAC00 <= code < 0xD7A4:
            first, second = unicodedata.decomposition(char).split()
            assert pairs[int(first, 16), int(second, 16)] == code, hex(code)


def write_rust(ranges):
    lines, line = [], ""
    for first, last in ranges:
        item = f"(0x{first:X}, 0x{last:X}),"
        if len(line) + 1 + len(item) > RUST_COLUMNS_MAX - 4:
            lines.append(line)
            line = ""
        line = f"{line} {item}".strip()
    body = "".join(f"    {it}\n" for it in [*lines, line])
    version = ".".join(map(str, VERSION))
    RUST.write_text(
        f"//! The code points whose Unicode property `Age` is {version} or less, sorted. Written by\n"
        "//! `bench/verifier/make_unicode.py` from the ages in regex-syntax 0.8.11.\n\n"
        "/// First and last code point of each range; between two of them lies at least one other.\n"
        "#[rustfmt::skip]\n"
        f"pub(super) const KNOWN: [(u32, u32); {len(ranges)}] = [\n{body}];\n"
    )


def main():
    ranges = known_ranges(Path(sys.argv[1]))
    known = {code for first, last in ranges for code in range(first, last + 1)}
    decompositions, classes, pairs = normalization(Path(sys.argv[2]), known)
    hold_against_the_interpreter(known, decompositions, classes, pairs)
    write_rust(ranges)
    data = {
        "known": ranges,
        "decompositions": sorted([code, *full] for code, full in decompositions.items()),
        "classes": sorted(classes.items()),
        "pairs": sorted([*pair, it] for pair, it in pairs.items()),
    }
    lines = ",\n".join(f'"{key}":{json.dumps(value, separators=(",", ":"))}' for key, value in data.items())
    (HERE / "unicode16.json").write_text("{" + lines + "}\n")


if __name__ == "__main__":
    main()
