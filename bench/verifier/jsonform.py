"""JSON as the format reads and prints it: docs/formats.md, "JSON" and "Numbers"."""

import re

import normal

DEPTH_MAX = 127
INTEGER_DIGITS_MAX = 20
EXPONENT_DIGITS_MAX = 10
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
PARTS = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class NotJson(ValueError):
    pass


class Obj:
    """An object: its keys and values in the order in which they stand."""

    def __init__(self, pairs):
        self.pairs = pairs

    def keys(self):
        return [key for key, _ in self.pairs]

    def get(self, wanted):
        found = [value for key, value in self.pairs if key == wanted]
        return found[-1] if found else None


def parse(text):
    value, at = _value(text, _blank(text, 0), DEPTH_MAX)
    if _blank(text, at) != len(text):
        raise NotJson("something follows the value")
    return value


def _blank(text, at):
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at


def _value(text, at, depth):
    first = text[at : at + 1]
    if first == '"':
        return _string(text, at)
    if first == "{" or first == "[":
        if depth == 0:
            raise NotJson("nested too deep")
        return (_object if first == "{" else _array)(text, at, depth - 1)
    for word, value in (("true", True), ("false", False), ("null", None)):
        if text.startswith(word, at):
            return value, at + len(word)
    found = NUMBER.match(text, at)
    if not found:
        raise NotJson("no value")
    return number(found[0]), found.end()


def _array(text, at, depth):
    items, at = [], _blank(text, at + 1)
    if text[at : at + 1] == "]":
        return items, at + 1
    while True:
        item, at = _value(text, _blank(text, at), depth)
        items.append(item)
        at = _blank(text, at)
        if text[at : at + 1] == "]":
            return items, at + 1
        if text[at : at + 1] != ",":
            raise NotJson("no comma")
        at += 1


def _object(text, at, depth):
    pairs, at = [], _blank(text, at + 1)
    if text[at : at + 1] == "}":
        return Obj(pairs), at + 1
    while True:
        at = _blank(text, at)
        if text[at : at + 1] != '"':
            raise NotJson("no key")
        key, at = _string(text, at)
        at = _blank(text, at)
        if text[at : at + 1] != ":":
            raise NotJson("no colon")
        value, at = _value(text, _blank(text, at + 1), depth)
        pairs.append((key, value))
        at = _blank(text, at)
        if text[at : at + 1] == "}":
            return Obj(pairs), at + 1
        if text[at : at + 1] != ",":
            raise NotJson("no comma")
        at += 1


def _string(text, at):
    out, at = [], at + 1
    while True:
        char = text[at : at + 1]
        if char == '"':
            return "".join(out), at + 1
        if char == "" or char < " ":
            raise NotJson("a string that does not end")
        if char != "\\":
            out.append(char)
            at += 1
            continue
        short = SHORT.get(text[at + 1 : at + 2])
        if short is not None:
            out.append(short)
            at += 2
            continue
        unit, at = _unit(text, at)
        if 0xD800 <= unit < 0xDC00:
            low, at = _unit(text, at)
            if not 0xDC00 <= low < 0xE000:
                raise NotJson("half a pair of surrogates")
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        elif 0xDC00 <= unit < 0xE000:
            raise NotJson("half a pair of surrogates")
        out.append(chr(unit))


def _unit(text, at):
    found = re.compile(r"\\u([0-9a-fA-F]{4})").match(text, at)
    if not found:
        raise NotJson("no escape")
    return int(found[1], 16), found.end()


def number(literal):
    """An int, or a double read the way that is part of the format."""
    sign, whole, fraction, exponent = PARTS.fullmatch(literal).groups()
    if fraction is None and exponent is None:
        # What has more digits is a double, and may have more than Python reads.
        value = int(whole) if len(whole) <= INTEGER_DIGITS_MAX else 1 << 64
        if not sign and value < 1 << 64:
            return value
        if sign and 0 < value <= 1 << 63:
            return -value
    significand, scale = 0, 0
    for at, digit in enumerate(whole):
        if significand * 10 + int(digit) >= 1 << 64:
            scale = len(whole) - at
            break
        significand = significand * 10 + int(digit)
    else:
        for digit in fraction or "":
            if significand * 10 + int(digit) >= 1 << 64:
                break
            significand, scale = significand * 10 + int(digit), scale - 1
    scale += _exponent(exponent or "0")
    value = float(significand)
    while value != 0.0 and abs(scale) > 308:
        if scale > 0:
            raise NotJson("a number out of range")
        value, scale = value / 1e308, scale + 308
    if value != 0.0:
        power = float(f"1e{abs(scale)}")
        value = value * power if scale >= 0 else value / power
    if value == float("inf"):
        raise NotJson("a number out of range")
    return -value if sign else value


def _exponent(text):
    digits = text.lstrip("+-").lstrip("0") or "0"
    # Beyond this every number is out of range, or zero.
    value = int(digits) if len(digits) <= EXPONENT_DIGITS_MAX else 10**EXPONENT_DIGITS_MAX
    return -value if text.startswith("-") else value


def print_number(value):
    if isinstance(value, int):
        return str(value)
    sign = "-" if str(value).startswith("-") else ""
    digits, _, exponent = f"{abs(value)!r}".replace(".", "").partition("e")
    text = repr(abs(value))
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        digits = mantissa.replace(".", "")
        point = mantissa.find(".") if "." in mantissa else len(mantissa)
        point += int(exponent)
    else:
        whole, _, fraction = text.partition(".")
        digits, point = whole + fraction, len(whole)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    if not digits:
        return f"{sign}0.0"
    power = point - 1
    if -5 <= power < 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 <= power < 16:
        whole = digits[:point].ljust(point, "0")
        return f"{sign}{whole}.{digits[point:] or '0'}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'-' if power < 0 else '+'}{abs(power)}"


def print_string(text, short):
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char in short:
            out.append("\\" + short[char])
        elif char < " ":
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


STORED = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
HASHED = {"\n": "n", "\r": "r", "\t": "t"}


def stored(value):
    """The text under which a value is stored, keys sorted."""
    return _text(value, lambda text: print_string(text, STORED), print_number)


def canonical(value):
    """The text that is hashed."""
    zero = lambda it: "0" if it == 0 and isinstance(it, float) and str(it)[0] == "-" else print_number(it)
    return _text(value, lambda it: print_string(normal.nfc(it), HASHED), zero)


def _text(value, string, number_text):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return "[" + ",".join(_text(it, string, number_text) for it in value) + "]"
    last = dict(value.pairs)
    pairs = sorted(last.items(), key=lambda pair: pair[0].encode())
    return "{" + ",".join(f"{string(k)}:{_text(v, string, number_text)}" for k, v in pairs) + "}"


def is_pinned(value):
    """Are the stored bytes the hashed bytes: no text outside normal form C, no -0.0?"""
    if isinstance(value, str):
        # Of what is not known the normal form is not known either, and it is refused as such.
        return not normal.all_known(value) or normal.nfc(value) == value
    if isinstance(value, float):
        return not (value == 0 and str(value)[0] == "-")
    if isinstance(value, list):
        return all(is_pinned(it) for it in value)
    if isinstance(value, Obj):
        return all(is_pinned(k) and is_pinned(v) for k, v in value.pairs)
    return True


def is_known(value):
    """Is all text of code points that the pinned version of Unicode knows?"""
    if isinstance(value, str):
        return normal.all_known(value)
    if isinstance(value, list):
        return all(is_known(it) for it in value)
    if isinstance(value, Obj):
        return all(is_known(k) and is_known(v) for k, v in value.pairs)
    return True


def is_stable(value):
    """Does every double read back as it is printed?"""
    if isinstance(value, float):
        return number(print_number(value)) == value
    if isinstance(value, list):
        return all(is_stable(it) for it in value)
    if isinstance(value, Obj):
        return all(is_stable(it) for _, it in value.pairs)
    return True
