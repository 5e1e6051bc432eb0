# SPDX-License-Identifier: Apache-2.0
"""Keeps an index of words over the last JSON documents, one a line: index.py KEPT."""

import json
import sys
from collections import deque

kept = int(sys.argv[1])
documents: deque[dict[str, object]] = deque()
index: dict[str, set[int]] = {}


def words(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(words(one) for one in value.values()))
    if isinstance(value, list):
        return set().union(*(words(one) for one in value))
    return set(value.split()) if isinstance(value, str) else set()


for line in sys.stdin:
    document = json.loads(line)
    documents.append(document)
    for word in words(document["content"]):
        index.setdefault(word, set()).add(document["id"])
    if len(documents) > kept:
        old = documents.popleft()
        for word in words(old["content"]):
            index[word].discard(old["id"])
print(len(json.dumps(list(documents))), sum(map(len, index.values())))
