# SPDX-License-Identifier: Apache-2.0
"""`--help` with the options that people need, and `--help-all` with all of them, by groups.

An option whose declaration names a group is shown by `--help-all` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from inspect import getdoc

from heapfit.cli.parser import Option
from heapfit.drawing.text import wrap_text

_EXAMPLES = "\n\nExamples:\n"
_WIDEST_TERM = 30  # that has its text beside it


def list_help(
    usage: str, declared: type, options: Sequence[Option], is_all: bool = False
) -> Iterator[str]:
    """The help of a command, line by line."""
    yield f"Usage: heapfit {usage}"
    for text in describe(declared):
        yield ""
        yield from wrap_text(" ".join(text.split()), "  ")
    yield from list_terms("Arguments", [describe_option(one) for one in options if not one.name])
    groups = dict.fromkeys(one.group for one in options if one.name and (is_all or not one.group))
    for group in sorted(groups, key=bool):  # those without a group first
        shown = [describe_option(one) for one in options if one.name and one.group == group]
        yield from list_terms(group or "Options", shown)
    examples = list_examples(declared)
    yield from ("", "  Examples:", *(f"    {one}" for one in examples)) if examples else ()
    hidden = 0 if is_all else sum(1 for one in options if one.group)
    if hidden:
        yield from ("", f"--help-all shows {hidden} more option{'s' * (hidden > 1)}.")


def describe(declared: type) -> list[str]:
    """The paragraphs of a command's docstring, without its examples."""
    return (getdoc(declared) or "").partition(_EXAMPLES)[0].split("\n\n")


def list_examples(declared: type) -> list[str]:
    """The examples in a command's docstring, each a line that can be typed."""
    return [one.strip() for one in (getdoc(declared) or "").partition(_EXAMPLES)[2].splitlines()]


def describe_usage(name: str, options: Iterable[Option]) -> str:
    """How a command is typed: its name, then its arguments, in brackets those to leave out."""
    arguments = [one for one in options if not one.name]
    needed = [
        one.value if one.is_required or one.value[0] == "[" else f"[{one.value}]"
        for one in arguments
    ]
    return " ".join([name, "[OPTIONS]", *needed])


def describe_option(option: Option) -> tuple[str, str]:
    """What is typed for an option or argument, and what help says of it."""
    term = " ".join(filter(None, [", ".join(option.names), option.value]))
    has_default = option.default not in (None, "") and not isinstance(option.default, bool)
    notes = [
        "required" if option.is_required else "",
        f"default: {option.default}" if has_default else "",
        option.limits(),
    ]
    text = f"{option.help} Repeatable." if option.is_many and option.name else option.help
    noted = "; ".join(filter(None, notes))
    return term, f"{text}  [{noted}]" if noted else text


def list_terms(title: str, terms: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The lines of a titled list, each term with its text beside it, or below if it is wide."""
    if terms:
        yield from ("", f"{title}:")
    width = min(max((len(term) for term, _ in terms), default=0), _WIDEST_TERM)
    for term, text in terms:
        first, *more = wrap_text(text, " " * (width + 4))
        if len(term) > width:
            yield f"  {term}"
            yield first
        else:
            yield f"  {term:{width}}  {first.lstrip()}"
        yield from more
