#!/usr/bin/env python3
"""The official OpenAI client against `lazaret serve`: models, an answer, a stream, a refusal.

Usage: openai_client.py BASE_URL TOKEN AGENT   (pip install openai)
"""
import sys

import openai

base, token, agent = sys.argv[1:4]
client = openai.OpenAI(base_url=f"{base}/v1", api_key=token, max_retries=0)
models = [it.id for it in client.models.list()]
assert agent in models, models
answer = client.chat.completions.create(
    model=agent, messages=[{"role": "user", "content": "Say hello."}]
)
assert answer.choices[0].message.content, answer
assert answer.usage.total_tokens >= 0
pieces, ended = [], None
stream = client.chat.completions.create(
    model=agent, messages=[{"role": "user", "content": "Say it again."}], stream=True
)
for chunk in stream:
    if chunk.choices:
        pieces.append(chunk.choices[0].delta.content or "")
        ended = chunk.choices[0].finish_reason or ended
assert "".join(pieces) and ended == "stop", (pieces, ended)
try:
    openai.OpenAI(base_url=f"{base}/v1", api_key="wrong", max_retries=0).models.list()
    raise SystemExit("a wrong token was taken")
except openai.AuthenticationError as error:
    assert error.status_code == 401
print(f"openai {openai.__version__}: {len(models)} models, an answer, {len(pieces)} pieces, a refusal")
