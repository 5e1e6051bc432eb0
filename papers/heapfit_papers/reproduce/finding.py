# SPDX-License-Identifier: Apache-2.0
"""A published figure, ours beside it, and the verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from heapfit.plan.quantities import format_count
from heapfit_papers.reproduce.published import (
    Figure,
    Kind,
    PublishedRow,
    Value,
    figure,
    format_value,
)


class Verdict(StrEnum):
    """How a figure stands. What agrees is a match only if its kind can match."""

    MATCHES = "matches"
    DIFFERS = "differs"
    NO_EVIDENCE = "no evidence"
    UNKNOWN = "cannot be known"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found for one figure."""

    figure: Figure
    ours: str
    verdict: Verdict
    why: str = ""  # said of what differs or cannot be known, and where else it needs a word
    number: Value | None = None  # ours, where it is a number


@dataclass(frozen=True, slots=True)
class RowResult:
    """A row with its findings."""

    row: PublishedRow
    assumed: str  # where the paper is silent; empty: nothing
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the row: one figure that differs makes it differ, one that matches makes
        it match.
        """
        verdicts = {one.verdict for one in self.findings}
        order = (Verdict.DIFFERS, Verdict.MATCHES, Verdict.NO_EVIDENCE)
        return next((one for one in order if one in verdicts), Verdict.UNKNOWN)


def space_shares(text: str) -> str:
    """A text whose shares have the notation of all pages.

    >>> space_shares("+1.5% to 71%")
    '+1.5 % to 71 %'
    """
    return re.sub(r"(?<=\d)%", " %", text)


def space_finding(found: Finding) -> Finding:
    """The finding with its shares in that notation."""
    return replace(found, ours=space_shares(found.ours), why=space_shares(found.why))


def near(row: str, name: str, ours: Value, why: str = "", facts: str = "") -> Finding:
    """A number against the published one; `facts` says more than the number alone.

    >>> near("000-7", "loops", 1900.0).verdict
    <Verdict.MATCHES: 'matches'>
    """
    its = figure(row, name)
    return Finding(
        its, facts or format_value(ours, its.unit), _verdict(its, its.agrees(ours)), why, ours
    )


def holds(row: str, name: str, is_so: bool, ours: str, why: str = "") -> Finding:
    """A statement that is true of our measurement or not.

    >>> holds("002-4", "difference", True, "made so").verdict
    <Verdict.NO_EVIDENCE: 'no evidence'>
    """
    its = figure(row, name)
    return Finding(its, ours, _verdict(its, is_so), why)


def unknown(row: str, name: str, why: str, ours: str = "-") -> Finding:
    """What nobody can compare, and why; ours may be told all the same."""
    return Finding(figure(row, name), ours, Verdict.UNKNOWN, why)


def verdicts_in_words(results: Sequence[RowResult]) -> list[str]:
    """How many figures there are, and how each kind of them stands: a line each."""
    counts = verdict_counts(results)
    total = sum(sum(some.values()) for some in counts.values())
    lines = [f"{format_count(total, 'figure')} in {format_count(len(results), 'row')}."]
    for kind, some in counts.items():
        number = sum(some.values())
        counted = ", ".join(f"{n} {_WORDS[verdict]}" for verdict, n in some.items() if n)
        if number:
            lines.append(f"{number} {_KINDS[kind][number > 1]}: {counted}.")
    return lines


def verdict_counts(results: Sequence[RowResult]) -> dict[Kind, dict[Verdict, int]]:
    """How many figures of each kind have each verdict."""
    found = [(one.figure.kind, one.verdict) for result in results for one in result.findings]
    return {kind: {verdict: found.count((kind, verdict)) for verdict in Verdict} for kind in Kind}


_WORDS = {
    Verdict.MATCHES: "match",
    Verdict.DIFFERS: "differ",
    Verdict.NO_EVIDENCE: "agree, which is no evidence",
    Verdict.UNKNOWN: "cannot be known",
}
_KINDS = {
    Kind.RESULT: ("result", "results"),
    Kind.MECHANISM: ("mechanism", "mechanisms"),
    Kind.ECHO: ("echo", "echoes"),
    Kind.CIRCULAR: ("circular", "circular"),
}


def _verdict(its: Figure, agrees: bool) -> Verdict:
    if not agrees:
        return Verdict.DIFFERS
    return Verdict.MATCHES if its.kind.can_match else Verdict.NO_EVIDENCE
