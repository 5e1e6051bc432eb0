# SPDX-License-Identifier: Apache-2.0
"""Counts the names and docstrings that cannot be read alone, and the long sentences of pages.

    python scripts/check_language.py          the counts; 1 if too many sentences are long, or if
                                              two public classes of a package have one name
    python scripts/check_language.py --list   each that counts, with its place

A function's name counts if its first word is a participle, a preposition or an adverb: a function
is a verb. Properties are nouns, and `to_`, `from_`, `as_` and `with_` are how conversions begin.
A docstring counts if its first sentence has at most two words, begins as an answer to a question
that is not there ("Whether", "Of", "As asked"), or begins with a pronoun. A sentence of README.md,
docs/ and docs/guides/ is long above 25 words; code counts as one, tables and headings not at all.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
PACKAGES = ("python/heapfit", "papers/heapfit_papers", "target/harness")
FEWEST_WORDS = 3  # of a docstring's first sentence
PAGES = ("README.md", "docs/*.md", "docs/guides/*.md")
MOST_WORDS = 25  # of a page's sentence
MOST_LONG = 0.055  # share of sentences above that
UNREAD = re.compile(
    r"^```.*?^```$|<!--.*?-->|^(?:#| {4}| *\|)[^\n]*|!\[[^]]*\]\([^)]*\)", re.M | re.S
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PARTICIPLES = _words(
    "bought broken brought built chosen drawn driven fed found given gone got grown held "
    "hidden kept known laid left lost made meant met mistaken paid said seen sent shown sold "
    "spent spoken stood stuck taken taught thought thrown told understood worn written"
)
VERBS_IN_ED = _words("embed exceed feed need proceed seed shed speed")
PREPOSITIONS = _words(
    "above across after against among around at before behind below beneath beside between beyond "
    "by during for if in into of off on onto out over per since than through under unless until "
    "up upon within without"
)
ADVERBS = _words(
    "again ahead alike alone already also apart aside away else ever far firmer further here how "
    "just later likewise longer meanwhile more most never next no not now off often once only "
    "otherwise shorter soon still then there together too twice when where while why yet"
)
ANSWERS = PREPOSITIONS | {"as", "from", "likewise", "whether", "with"}
PRONOUNS = _words("it its she that their them these they this those")
VAGUE = re.compile(r"(?:All|Any|Both|Each|Most|None|One|Some) of (?:them|these|those|it)\b")

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def is_verb(name: str) -> bool:
    """True unless the name's first word is a participle, a preposition or an adverb.

    >>> [name for name in ("load_word", "needed", "of_trace", "to_arrow") if not is_verb(name)]
    ['needed', 'of_trace']
    """
    word = name.strip("_").split("_")[0]
    is_participle = word in PARTICIPLES or (word.endswith("ed") and word not in VERBS_IN_ED)
    return not (is_participle or word in PREPOSITIONS or word in ADVERBS)


def can_be_read_alone(docstring: str) -> bool:
    """True if the docstring's first sentence needs no other text to be understood.

    >>> can_be_read_alone("Whether these do."), can_be_read_alone("The largest R_safe of the rows.")
    (False, True)
    """
    sentence = re.split(r"(?<=[.?!])\s|\n\n", docstring.strip())[0]
    words = re.findall(r"[\w`'.-]+", sentence)
    if len(words) < FEWEST_WORDS or VAGUE.match(sentence):
        return False
    return words[0].lower() not in ANSWERS | PRONOUNS


def function_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and name of each function that is no property and has no name of Python's own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_property = any("property" in ast.unparse(one) for one in node.decorator_list)
            if not (is_property or node.name.startswith("__")):
                yield node.lineno, node.name


def class_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and name of each public class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.lineno, node.name


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and docstring of the module and of each class and function that has one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | Definition) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text


def is_short(sentence: str) -> bool:
    """True if a page's sentence has at most 25 words.

    >>> is_short("`a b c` is [one](two.md).")
    True
    """
    return len(re.sub(r"`[^`]*`", "code", sentence).split()) <= MOST_WORDS


def page_sentences() -> Iterator[tuple[str, str]]:
    """The sentences of the users' pages, links as their words, each with its page."""
    for file in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
        text = UNREAD.sub("", file.read_text(encoding="utf-8"))
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
        for part in re.split(r"\n\s*\n|\n\s*(?=(?:[-*]|\d+\.) )", text):
            sentences = re.split(r"(?<=[.?!])[)*\"]*\s+(?=[^a-z])|:\s*$", " ".join(part.split()))
            yield from ((str(file.relative_to(ROOT)), one) for one in sentences if one)


def count(name: str, found: Iterator[tuple[str, str]], is_good: Callable[[str], bool]) -> list[str]:
    """Prints how many texts count; returns their places."""
    texts = list(found)
    wrong = [f"{place}: {text.splitlines()[0]}" for place, text in texts if not is_good(text)]
    print(f"{name}: {len(wrong)} of {len(texts):,}")
    return wrong


def texts_of(
    find: Callable[[ast.Module], Iterator[tuple[int, str]]],
) -> Iterator[tuple[str, str]]:
    """What `find` finds in all modules of the packages, with its place."""
    for file in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for line, text in find(ast.parse(file.read_text(encoding="utf-8"))):
            yield f"{file.relative_to(ROOT)}:{line}", text


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts what cannot be read alone.")
    parser.add_argument("--list", action="store_true", help="print each that counts")
    is_listing = parser.parse_args().list
    wrong = count("function names that are no verbs", texts_of(function_names), is_verb)
    wrong += count("docstrings that are fragments", texts_of(docstrings), can_be_read_alone)
    names = list(texts_of(class_names))
    times = Counter((place.split("/")[0], name) for place, name in names)
    twice = count(
        "classes whose name another has",
        iter(names),
        lambda name: all(times[package, name] < 2 for package in ("python", "papers", "target")),
    )
    sentences = list(page_sentences())
    long = count("sentences above 25 words", iter(sentences), is_short)
    if is_listing:
        print("\n".join(wrong + twice + long))
    sys.exit(bool(twice) or len(long) > MOST_LONG * len(sentences))


if __name__ == "__main__":
    main()
