#!/usr/bin/env python3
"""Runs the independent verifier beside `aegx verify` over the bundles of the corpus and says where
they differ. Exit 0: nowhere.

usage: compare.py [AEGX]    the program, `target/debug/aegx` unless it is given
"""

import json
import subprocess
import sys
from pathlib import Path

import aegx_verify

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus" / "aegx"


def bundles():
    """Those of format 0.1; the older formats have hashes of their own."""
    for name in json.loads((CORPUS / "strict" / "index.json").read_text()):
        yield CORPUS / "strict" / name
    for vector in json.loads((CORPUS / "index.json").read_text())["vectors"]:
        yield CORPUS / vector["path"]


def ask(program, bundle):
    """The codes that `aegx verify` gives."""
    ran = subprocess.run(
        [program, "verify", "--json", str(bundle)], capture_output=True, text=True, check=False
    )
    try:
        answer = json.loads(ran.stdout)
    except json.JSONDecodeError:
        return ["unable"]
    return sorted({it["code"] for it in answer["errors"]})


def main():
    sys.setrecursionlimit(10_000)
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "debug" / "aegx")
    count, differ = 0, 0
    for bundle in bundles():
        count += 1
        ours = ask(program, bundle)
        theirs = sorted({it["code"] for it in aegx_verify.verify(str(bundle))})
        if bool(ours) != bool(theirs):
            differ += 1
            print(f"{bundle.relative_to(ROOT)}: aegx says {ours or 'PASS'}, the other {theirs or 'PASS'}")
    print(f"{count} bundles, {differ} verdicts differ")
    return 1 if differ or not count else 0


if __name__ == "__main__":
    sys.exit(main())
