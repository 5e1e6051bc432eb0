# SPDX-License-Identifier: Apache-2.0
"""A published figure, ours beside it, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from heapfit_papers.reproduce.published import Figure, PublishedRow, Value, figure, shown


class Verdict(StrEnum):
    """How a figure stands."""

    MATCHES = "matches"
    DIFFERS = "differs"
    UNKNOWN = "cannot be known"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found for one figure."""

    figure: Figure
    ours: str
    verdict: Verdict
    why: str = ""  # said of every verdict but a match, and where a match needs a word
    number: Value | None = None  # ours, where it is a number


@dataclass(frozen=True, slots=True)
class RowResult:
    """A row with its findings."""

    row: PublishedRow
    assumed: str  # where the paper is silent; empty: nothing
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """Of the row: one figure that differs makes it differ, one that matches makes it match."""
        verdicts = {one.verdict for one in self.findings}
        order = (Verdict.DIFFERS, Verdict.MATCHES)
        return next((one for one in order if one in verdicts), Verdict.UNKNOWN)


def near(row: str, name: str, ours: Value, why: str = "", facts: str = "") -> Finding:
    """A number against the published one; `facts` says more than the number alone.

    >>> near("000-9", "share", 0.79).verdict
    <Verdict.MATCHES: 'matches'>
    """
    its = figure(row, name)
    verdict = Verdict.MATCHES if its.agrees(ours) else Verdict.DIFFERS
    return Finding(its, facts or shown(ours, its.unit), verdict, why, ours)


def holds(row: str, name: str, is_so: bool, ours: str, why: str = "") -> Finding:
    """A statement that is true of our measurement or not."""
    return Finding(figure(row, name), ours, Verdict.MATCHES if is_so else Verdict.DIFFERS, why)


def unknown(row: str, name: str, why: str, ours: str = "-") -> Finding:
    """What nobody can compare, and why; ours may be told all the same."""
    return Finding(figure(row, name), ours, Verdict.UNKNOWN, why)


def verdicts_in_words(results: Sequence[RowResult]) -> str:
    """The counts in words."""
    words = {
        Verdict.MATCHES: "match",
        Verdict.DIFFERS: "differ",
        Verdict.UNKNOWN: "cannot be known",
    }
    counts = verdict_counts(results)
    counted = ", ".join(f"{counts[one]} {words[one]}" for one in Verdict if counts[one])
    return f"{sum(counts.values())} figures in {len(results)} rows: {counted}."


def verdict_counts(results: Sequence[RowResult]) -> dict[Verdict, int]:
    """How many figures have each verdict."""
    verdicts = [one.verdict for result in results for one in result.findings]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}
