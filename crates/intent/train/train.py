#!/usr/bin/env python3
"""Trains the encoder that says whether the user's words ask for a tool, and writes the files in ../model.

    python3 base.py DIR && python3 train.py DIR OUT

Needs torch, onnx and onnxruntime, and a GPU for minutes (a CPU takes hours). Each set of data is left out once: the
thresholds are those that hold on sets that a model has not seen. `rt_dev` is never trained on.
"""
import collections, glob, gzip, json, math, os, random, re, struct, sys, time, unicodedata
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
BASE, OUT = sys.argv[1], sys.argv[2]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LAYERS, HEADS, WIDTH = 6, 12, 384
USER_TOKENS, TOOL_TOKENS = 126, 62
EPOCHS, RATE, BATCH, SEED = 6, 1e-4, 128, 0
# Of tools that were not asked for, so many pass at the upper and at the lower threshold.
UPPER, LOWER = 0.02, 0.10
NEVER = {"rt_dev", "rt_dev_inatk"}
LEFT_OUT = [{"bfcl_st", "bfcl_live", "bfcl_mt", "bfcl_irr", "apibank"}, {"tau", "injecagent", "dojo_dev"}]
PUBLIC = {"bfcl_st": "BFCL", "bfcl_live": "BFCL", "bfcl_mt": "BFCL", "bfcl_irr": "BFCL", "apibank": "API-Bank", "tau": "tau-bench",
          "injecagent": "InjecAgent", "dojo_dev": "AgentDojo", "rt_dev": "domains", "rt_dev_inatk": "domains"}

VOCAB = {word: at for at, word in enumerate(open(f"{BASE}/vocab.txt", encoding="utf-8").read().split("\n")[:-1])}
PAD, UNK, CLS, SEP = (VOCAB[it] for it in ("[PAD]", "[UNK]", "[CLS]", "[SEP]"))


def pieces(text):
    """Words in lower case and without accents; other signs, and Chinese characters, alone: as `src/tokens.rs` cuts them."""
    word = ""
    for letter in "".join(it for it in unicodedata.normalize("NFKD", text) if not unicodedata.category(it).startswith("M")).lower():
        ideograph = any(first <= letter <= last for first, last in ("\u3400\u4dbf", "\u4e00\u9fff", "\uf900\ufaff"))
        if letter.isalnum() and not ideograph:
            word += letter
            continue
        if word:
            yield word
            word = ""
        if not letter.isspace():
            yield letter
    if word:
        yield word


def tokens(text):
    """Numbers of the longest beginnings of words that the vocabulary has."""
    out = []
    for word in pieces(text):
        start, found = 0, []
        while start < len(word):
            if len(word) > 64:
                found = [UNK]
                break
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in VOCAB:
                    found.append(VOCAB[piece])
                    break
            else:
                found = [UNK]
                break
            start = end
        out += found
    return out


def spaced(name):
    """`sendDirectMessage`, `send_direct-message` → `send direct message`."""
    return re.sub(r"[_\-.]+", " ", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name))


def tool_text(name, description):
    return f"{spaced(name)}. {' '.join(description.split())[:200]}"


def user_text(turns):
    return " / ".join(" ".join(it.split()) for it in turns)[-900:]


CUT = {}


def cut(text, most, tail):
    key = (text, tail)
    if key not in CUT:
        all_of = tokens(text)
        CUT[key] = [CLS, *(all_of[-most:] if tail else all_of[:most]), SEP]
    return CUT[key]


def gelu(x):
    """With a quotient in the place of tanh: quick without a library."""
    y = 0.7978846 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + (y * (27 + y * y) / (27 + 9 * y * y)).clamp(-1, 1))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)

    def forward(self, x, bias, drop):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + bias, -1)
        mixed = (drop(weights) @ v).transpose(1, 2).reshape(b, n, WIDTH)
        x = self.norm1(x + drop(self.out(mixed)))
        return self.norm2(x + drop(self.down(gelu(self.up(x)))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(len(VOCAB), WIDTH), nn.Embedding(512, WIDTH)
        self.norm, self.layers = nn.LayerNorm(WIDTH, 1e-12), nn.ModuleList(Layer() for _ in range(LAYERS))
        self.drop = nn.Dropout(0.1)
        self.a, self.b = nn.Parameter(torch.tensor(10.0)), nn.Parameter(torch.tensor(-4.0))

    def load(self, base):
        w = {k: torch.tensor(v.astype(np.float32)) for k, v in base.items()}
        state = self.state_dict()
        def put(to, tensor):
            assert state[to].shape == tensor.shape, to
            state[to].copy_(tensor)
        put("words.weight", w["words"] * w["scale"] + w["embeddings.token_type_embeddings.weight"][0])
        put("places.weight", w["embeddings.position_embeddings.weight"])
        for kind in ("weight", "bias"):
            put(f"norm.{kind}", w[f"embeddings.LayerNorm.{kind}"])
            for at in range(LAYERS):
                old = f"encoder.layer.{at}."
                put(f"layers.{at}.qkv.{kind}", torch.cat([w[f"{old}attention.self.{it}.{kind}"] for it in ("query", "key", "value")]))
                put(f"layers.{at}.out.{kind}", w[f"{old}attention.output.dense.{kind}"])
                put(f"layers.{at}.norm1.{kind}", w[f"{old}attention.output.LayerNorm.{kind}"])
                put(f"layers.{at}.up.{kind}", w[f"{old}intermediate.dense.{kind}"])
                put(f"layers.{at}.down.{kind}", w[f"{old}output.dense.{kind}"])
                put(f"layers.{at}.norm2.{kind}", w[f"{old}output.LayerNorm.{kind}"])
        return self

    def forward(self, ids, mask):
        x = self.drop(self.norm(self.words(ids) + self.places.weight[: ids.shape[1]]))
        bias = (1.0 - mask[:, None, None, :]) * -1e4
        for layer in self.layers:
            x = layer(x, bias, self.drop)
        return F.normalize((x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True), dim=-1)

    def embed(self, texts, is_user):
        rows = [cut(it, USER_TOKENS if is_user else TOOL_TOKENS, is_user) for it in texts]
        ids = np.full((len(rows), (max(map(len, rows)) + 15) // 16 * 16), PAD, np.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
        mask = torch.from_numpy((ids != PAD).astype(np.float32))
        ids = torch.from_numpy(ids)
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda" and self.training):
            return self(ids.to(DEVICE), mask.to(DEVICE)).float()


def shown(tool, rng):
    """A tool as it is seen in training: now and then without its description."""
    return tool_text(tool[0], "" if rng.random() < 0.15 else tool[1])


LANGUAGES = "de fr es it pt nl pl ru tr zh ja ko".split()


def written():
    """Queries of the tools in `written/`: each thing that is said, with the tool and others of its environment."""
    rng, queries, environments = random.Random(SEED), [], collections.defaultdict(list)
    for path in sorted(glob.glob(f"{HERE}/written/*.jsonl")):
        for line in open(path, encoding="utf-8"):
            tool = json.loads(line)
            environments[os.path.basename(path)[:-6], tool["env"]].append(tool)
    def named(tool):
        return [rng.choice([tool["name"], *tool["alt"]]), rng.choice([tool["desc"], tool["alt_desc"]])]
    for (file, _), tools in environments.items():
        def add(kind, turns, tool, more=None):
            wanted = [tool] + ([more] if more else [])
            others = [it for it in tools if it not in wanted]
            queries.append({"set": f"written_{file}", "kind": kind, "u": turns, "pos": [named(it) for it in wanted],
                            "neg": [named(it) for it in rng.sample(others, min(9, len(others)))]})
        for tool in tools:
            for text in tool["ask"]:
                add("en", [text], tool)
            for turns in tool["talk"]:
                add("talk", turns, tool)
            for language in LANGUAGES:
                for text in tool[language]:
                    add(language, [text], tool)
            for text in tool["not"]:
                queries.append({"set": f"written_{file}", "kind": "not", "u": [text], "pos": [], "neg": [named(tool)]})
            other = rng.choice([it for it in tools if it is not tool])
            for _ in range(2):
                add("both", [f"{rng.choice(tool['ask'])} {rng.choice(other['ask'])}"], tool, other)
            # What was asked for after something else.
            add("next", [rng.choice(other["ask"]), rng.choice(tool["ask"])], tool, other)
    return queries


def train(queries, base):
    torch.manual_seed(SEED)
    rng, model = random.Random(SEED), Encoder().load(base).to(DEVICE)
    asked = [it for it in queries if it["pos"]]
    idle = [it for it in queries if not it["pos"] and it["neg"]]
    steps = EPOCHS * math.ceil((len(asked) + min(len(idle), len(asked) // 2)) / BATCH)
    plain = [p for k, p in model.named_parameters() if "bias" in k or "norm" in k]
    rest = [p for k, p in model.named_parameters() if not ("bias" in k or "norm" in k)]
    optimizer = torch.optim.AdamW([{"params": rest, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0}], lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, s / (0.1 * steps + 1)) * max(0, (steps - s) / steps))
    for epoch in range(EPOCHS):
        model.train()
        data, total = asked + rng.sample(idle, min(len(idle), len(asked) // 2)), 0.0
        rng.shuffle(data)
        for at in range(0, len(data), BATCH):
            batch, tools = data[at : at + BATCH], {}
            asked_for, others = [], []
            for row, query in enumerate(batch):
                for it in query["pos"][:4]:
                    asked_for.append((row, tools.setdefault(shown(it, rng), len(tools))))
                for it in rng.sample(query["neg"], min(10, len(query["neg"]))):
                    others.append((row, tools.setdefault(shown(it, rng), len(tools))))
            logits = model.a * (model.embed([user_text(it["u"]) for it in batch], True) @ model.embed(list(tools), False).T) + model.b
            yes, no = (torch.tensor(it, device=DEVICE).view(-1, 2).T for it in (asked_for, others))
            z_yes, z_no = logits[yes[0], yes[1]], logits[no[0], no[1]]
            rivals = torch.full_like(logits, -1e4)
            rivals[no[0], no[1]] = z_no
            rival = torch.logsumexp(rivals, 1)[yes[0]]
            ranked = (torch.logaddexp(z_yes, rival) - z_yes).mean()
            z, y = torch.cat([z_yes, z_no]), torch.cat([torch.ones_like(z_yes), torch.zeros_like(z_no)])
            weight = torch.where(y == 1, 1.0, min(1.0, 2 * len(asked_for) / max(1, len(others))))
            loss = (F.binary_cross_entropy_with_logits(z, y * 0.96 + 0.02, reduction="none") * weight).sum() / weight.sum() + 0.5 * ranked
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total = total + loss.detach() * len(batch)
        print(f"  epoch {epoch}: loss {float(total) / len(data):.4f}", flush=True)
    return model.eval()


@torch.no_grad()
def embedded(model, texts, is_user):
    out = {}
    texts = sorted(set(texts), key=len)
    for at in range(0, len(texts), 256):
        some = texts[at : at + 256]
        out.update(zip(some, model.embed(some, is_user).cpu().numpy()))
    return out


def score(logit, others):
    """The logit, and up to one more or less by how far it stands out among the other tools of the session."""
    margin = min(2.0, max(-2.0, logit - max(others))) if others else 0.0
    return logit + 0.5 * margin


def judged(model, queries):
    """(was asked for, score) of each tool of each query."""
    users = embedded(model, [user_text(it["u"]) for it in queries], True)
    tools = embedded(model, [tool_text(*t) for it in queries for t in it["pos"] + it["neg"]], False)
    a, b, out = model.a.item(), model.b.item(), []
    for query in queries:
        user = users[user_text(query["u"])]
        logits = [a * float(user @ tools[tool_text(*it)]) + b for it in query["pos"] + query["neg"]]
        for at, logit in enumerate(logits):
            out.append((at < len(query["pos"]), score(logit, logits[:at] + logits[at + 1 :])))
    return out


def at_rate(scores, rate):
    ordered = sorted(scores, reverse=True)
    return ordered[min(len(ordered) - 1, int(len(ordered) * rate))]


def small(matrix, most):
    """Whole numbers up to `most`, and a scale for each column."""
    scale = np.maximum(np.abs(matrix).max(0), 1e-8) / most
    return np.rint(matrix / scale).astype(np.int8), scale.astype("<f4")


def export(model, note):
    """Writes the weights in the order in which `src/network.rs` reads them."""
    state = {k: v.detach().float().cpu().numpy() for k, v in model.state_dict().items()}
    head = {"words": len(VOCAB), "places": USER_TOKENS + 2, "width": WIDTH, "heads": HEADS, "layers": LAYERS, **note}
    with open(f"{OUT}/weights.bin", "wb") as file:
        file.write(json.dumps(head).encode() + b"\n")
        def floats(name):
            file.write(state[name].astype("<f4").tobytes())
        words, scales = small(state["words.weight"].T, 127)
        file.write(np.ascontiguousarray(words.T).tobytes() + scales.tobytes())
        file.write(state["places.weight"][: USER_TOKENS + 2].astype("<f4").tobytes())
        floats("norm.weight"), floats("norm.bias")
        for at in range(LAYERS):
            for part in ("qkv", "out", "norm1", "up", "down", "norm2"):
                name = f"layers.{at}.{part}"
                if part.startswith("norm"):
                    floats(f"{name}.weight")
                else:
                    # 63, so that products of two pairs fit into 16 bits where a processor adds them so.
                    numbers, scales = small(state[f"{name}.weight"].T, 63)
                    file.write(np.ascontiguousarray(numbers).tobytes() + scales.tobytes())
                floats(f"{name}.bias")
    print(f"  {os.path.getsize(f'{OUT}/weights.bin')} bytes", flush=True)


def samples(model):
    """Scores for the tests of the program, which must come near them with small numbers."""
    out = []
    for user, tool in [("Please send the report to Anna.", ["send_email", "Send an email."]),
                       ("What is the weather in Oslo?", ["send_email", "Send an email."]),
                       ("Cancel my 9 o'clock, it's not needed any more!", ["calendar.deleteEvent", "Removes an event from the calendar."]),
                       ("Überweise bitte 40 Euro an Jörg.", ["transferMoney", "Sends money to an account."]),
                       ("把会议推迟到周五。", ["event_update", "Changes an event."]),
                       ("Find the cheapest hotel in Bari for the first weekend of May and book it, then tell Marta where we stay. " * 6, ["hotel-booking", ""])]:
        query = {"u": [user], "pos": [tool], "neg": []}
        [(_, value)] = judged(model, [query])
        out.append({"user": user, "name": tool[0], "description": tool[1], "score": round(value, 2), "tokens": len(cut(user_text([user]), USER_TOKENS, True))})
        print(f"  sample {value:.2f} {user[:60]} | {tool[0]}", flush=True)
    with open(f"{OUT}/samples.json", "w") as file:
        json.dump({"first tokens": cut(user_text(["Please send the report to Anna."]), USER_TOKENS, True), "samples": out}, file, indent=1, ensure_ascii=False)


def main():
    os.makedirs(OUT, exist_ok=True)
    base = np.load(f"{BASE}/base.npz")
    with gzip.open(f"{HERE}/queries.jsonl.gz", "rt") as file:
        queries = [json.loads(it) for it in file]
    queries += written()
    files = sorted({it["set"] for it in queries if it["set"].startswith("written_")})
    pooled, began, final = {}, time.time(), None
    for left in [set(), set(files[::3]), *LEFT_OUT]:
        print(f"without {' '.join(sorted(left)) or 'nothing'}", flush=True)
        model = train([it for it in queries if it["set"] not in left | NEVER], base)
        final = final or model
        kinds = collections.defaultdict(list)
        for query in queries:
            if query["set"] in (left or NEVER):
                kinds[PUBLIC.get(query["set"]) or f"written, {query['kind']}"].append(query)
        for kind, some in kinds.items():
            pooled.setdefault(kind, []).extend(judged(model, some))
        # A run that is ended early has left what it knew.
        finish(final, pooled)
        print(f"  {time.time() - began:.0f} s", flush=True)


def finish(model, pooled):
    """Sets the thresholds by what was left out, and writes everything."""
    # Each left-out set counts alike, whatever its size.
    negatives = []
    for key, rows in pooled.items():
        if key != "domains" or len(pooled) == 1:
            scores = [s for y, s in rows if not y]
            random.Random(SEED).shuffle(scores)
            negatives += scores[:800]
    def share(rows, truth, least):
        some = [s for y, s in rows if y == truth]
        return sum(s >= least for s in some) / max(1, len(some))
    for rate in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
        at = at_rate(negatives, rate)
        print(f"  {rate} at {at:.2f}: " + "  ".join(f"{key} {share(rows, True, at):.2f}/{share(rows, False, at):.2f}" for key, rows in pooled.items()), flush=True)
    upper, lower = at_rate(negatives, UPPER), at_rate(negatives, LOWER)
    table = {key: {"asked, above": round(share(rows, True, upper), 3), "asked, below": round(1 - share(rows, True, lower), 3),
                   "unasked, above": round(share(rows, False, upper), 3), "unasked, below": round(1 - share(rows, False, lower), 3)}
             for key, rows in pooled.items()}
    with open(f"{OUT}/left-out.json", "w") as file:
        json.dump(table, file, indent=1)
    note = {"a": round(model.a.item(), 4), "b": round(model.b.item(), 4), "upper": round(upper, 3), "lower": round(lower, 3)}
    samples(model)
    export(model, note)


if __name__ == "__main__":
    main()
