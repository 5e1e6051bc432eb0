# SPDX-License-Identifier: Apache-2.0
"""The only place where names become code.

A plan's name or a trace's may hold anything: the end of a comment, a newline, a trigraph. Templates
take nothing but numbers and `Text`, and only the functions below make `Text`.
"""

from __future__ import annotations

import hashlib
import re

from heapfit.errors import HeapfitError

_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,31}")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HARMLESS = re.compile(r"[^A-Za-z0-9 _.,:;+=()@%-]")
_LONGEST_SLUG = 24
_LONGEST_TEXT = 80


class Text(str):
    """Characters that are harmless in C, in a C comment and in Markdown."""

    __slots__ = ()


def parse_prefix(prefix: str) -> Text:
    """The word every generated name begins with; HeapfitError if it is not fit for one."""
    if not _PREFIX.fullmatch(prefix) or prefix.startswith("hfit"):
        raise HeapfitError(
            f"prefix {prefix[:40]!a}: must be at most 32 small letters, digits and _, begin with a "
            "letter and not with hfit, as core's names do (for example: app)"
        )
    return Text(prefix)


def make_identifier(prefix: Text, name: str) -> Text:
    """A C identifier that reads like `name` and differs between any two names."""
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower())[:_LONGEST_SLUG].strip("_")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return Text("_".join(part for part in (prefix, slug, digest) if part))


def comment_text(text: str) -> Text:
    """`text` for a comment or a page; each character with a meaning there becomes _."""
    harmless = _HARMLESS.sub("_", text) or "unnamed"
    return Text(
        harmless if len(harmless) <= _LONGEST_TEXT else harmless[: _LONGEST_TEXT - 3] + "..."
    )


def core_word(name: str) -> Text:
    """An identifier of core's own, such as the name of an allocator or a tunable."""
    if not _WORD.fullmatch(name):
        raise ValueError(f"not an identifier: {name!a}")
    return Text(name)
