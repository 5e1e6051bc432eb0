# SPDX-License-Identifier: Apache-2.0
"""Settings of embedded systems in the syntax of their files, each with its chance to run out."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.quantities import format_share
from heapfit.sizing.run_out import RunOut
from heapfit.trace.stored import TraceInfo
from heapfit.trace.tabular import Tabular, arrow_table

_WIDTH = 74  # columns of the text of a comment, whose marks take 6


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure of the system itself that a build of it may change."""

    name: str
    value: int
    meaning: str
    source: str  # where it was found, or how it was inferred
    is_checked: bool = True  # it was compared with the system's source, or with a run of it


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, a line to copy into the system's file."""

    name: str
    value: int
    standard: str  # the system's own, in words
    run_out: RunOut | None  # None where the value itself decides nothing
    why: str  # what was counted


@dataclass(frozen=True, slots=True)
class BufferChoice:
    """One of the ways to set buffers that were compared."""

    buffer_size: int
    count: int
    memory: int
    peak: int  # the most buffers that were needed at once
    is_extrapolated: bool  # the count, above that peak

    def __str__(self) -> str:
        return f"{self.count}{'*' * self.is_extrapolated}x{self.buffer_size}: {self.memory:,} B"


@dataclass(frozen=True, slots=True)
class SizedSettings:
    """Settings, what they cost, and what is to be said of them."""

    settings: tuple[Setting, ...]
    memory: int  # bytes of RAM that they cost, by the assumptions
    choices: tuple[BufferChoice, ...] = ()  # buffer sizes compared; none where there was no choice
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Settings(Tabular, SizedSettings):
    """The settings for one system from recordings or captures."""

    system: str
    form: (
        str  # of the system's files: "define" (#define NAME VALUE) or "kconfig" (CONFIG_NAME=VALUE)
    )
    admission: float
    assumptions: tuple[Assumption, ...]
    source: str  # the recordings or captures, in words

    def __str__(self) -> str:
        return f"settings for {self.system}: {len(self.settings)}, {self.memory:,} B of RAM"

    def to_arrow(self) -> pa.Table:
        """A row for each setting; `run_out` is the share of requests that find none left."""
        return arrow_table(
            self.settings,
            {
                "name": lambda one: one.name,
                "value": lambda one: one.value,
                "standard": lambda one: one.standard,
                "run_out": lambda one: one.run_out and one.run_out.share,
                "why": lambda one: one.why,
            },
        )


def override_assumptions(
    standard: Sequence[Assumption], given: Mapping[str, int], system: str
) -> tuple[Assumption, ...]:
    """The assumptions, with the values given instead of their own."""
    known = {one.name: one for one in standard}
    for name, value in given.items():
        if name not in known:
            raise HeapfitError(
                f"assume: {system} has no assumption named '{name}' ({did_you_mean(name, known)})"
            )
        if not 0 <= value <= 2**20:
            raise HeapfitError(f"assume: {name}={value} is out of range (0 to {2**20})")
        known[name] = Assumption(name, value, known[name].meaning, "given")
    return tuple(known.values())


def as_text(settings: Settings) -> str:
    """The lines to copy into the system's own file."""
    lines = _comment_lines(settings.form, _heading(settings))
    lines += [
        line
        for remark in settings.remarks
        for line in _comment_lines(settings.form, _sentence(remark))
    ]
    for one in settings.settings:
        lines += [
            "",
            *_comment_lines(settings.form, explain_setting(one)),
            _line(settings.form, one),
        ]
    return "\n".join([*lines, ""])


def _sentence(remark: str) -> str:
    """A remark as a sentence; what begins with a name keeps it.

    >>> _sentence("bytes are those of PBUF_POOL alone"), _sentence("heap_4 is kept.")
    ('Bytes are those of PBUF_POOL alone.', 'heap_4 is kept.')
    """
    first = remark[0].upper() if remark.split(" ", 1)[0].isalpha() else remark[0]
    return f"{first}{remark[1:].rstrip('.')}."


def explain_setting(setting: Setting) -> str:
    """The reason for a value, in words."""
    found = setting.run_out
    chance = "" if found is None else f" {describe_run_out(found)}"
    return f"{setting.why}{chance} Default: {setting.standard}."


def describe_run_out(run_out: RunOut) -> str:
    """The sentences that say how often a pool runs out."""
    share, lowest, highest, bursts, independent = (
        format_share(getattr(run_out, name))
        for name in ("share", "lowest", "highest", "in_bursts", "independent")
    )
    often = _describe_frequency(*run_out.count_refused(run_out.share))
    told = f"Runs out for at most {share} of requests (95 %: {lowest} to {highest}), {often}."
    if run_out.is_beyond:
        told = (
            f"Runs out for up to {share} of requests, at most {often}, by EXTRAPOLATION: what is "
            f"recorded shows only that it is below {highest}. Most at once: {run_out.peak:,}."
        )
    if run_out.share == 0:
        told = f"Never ran out in what is recorded: it does for less than {highest} of requests."
    return f"{told} Models: {bursts} in such bursts, {independent} of independent requests."


def _describe_frequency(count: float, unit: str) -> str:
    """A number of requests in a unit of time as text; below one, the chance of any.

    >>> _describe_frequency(12.3, "day"), _describe_frequency(0.02, "recording")
    ('12 times a day', 'with a chance of 2.0 % a recording')
    """
    return (
        f"{count:,.0f} times a {unit}"
        if count >= 1
        else f"with a chance of {format_share(-math.expm1(-count))} a {unit}"
    )


def describe_sources(sources: Sequence[tuple[Path, TraceInfo]]) -> str:
    """The files, their events, and when their packets are released."""
    (first, info), *more = sources
    name = f"{first.name} and {len(more)} more" if more else first.name
    events = sum(one.events for _, one in sources)
    return f"{name} ({events:,} events{f', released by {info.queue}' if info.queue else ''})"


def _heading(settings: Settings) -> str:
    counted = any(one.run_out is not None for one in settings.settings)
    share = f"{settings.admission * 100:.10g} % of the"
    served = "all recorded" if settings.admission == 1 else share
    aim = f" that serve {served} requests" if counted else ""
    values = ", ".join(f"{one.name}={one.value}" for one in settings.settings)
    known = ", ".join(
        f"{one.name}={one.value}{'' if one.is_checked else ' (unchecked)'}"
        for one in settings.assumptions
        if one.value and one.name not in {setting.name for setting in settings.settings}
    )
    assumed = f" Assumed: {known}." if known else ""
    return (
        f"{settings.system}: set {values}: {settings.memory:,} B of RAM"
        f"{aim}. Sized by heapfit from {settings.source}.{assumed}"
    )


def _comment_lines(form: str, text: str) -> list[str]:
    whole = text.replace("*/", "* /").replace(" %", "\N{NO-BREAK SPACE}%")
    rows = [row.replace("\N{NO-BREAK SPACE}", " ") for row in textwrap.wrap(whole, _WIDTH)]
    if form == "kconfig":
        return [f"# {row}" for row in rows]
    opening = [f"/* {row}" if i == 0 else f" * {row}" for i, row in enumerate(rows)]
    return [*opening[:-1], f"{opening[-1]} */"]


def _line(form: str, setting: Setting) -> str:
    return (
        f"CONFIG_{setting.name}={setting.value}"
        if form == "kconfig"
        else f"#define {setting.name} {setting.value}"
    )


@dataclass(frozen=True, slots=True)
class SettingsOptions:
    """Options of a system's settings."""

    admission: float = 0.999  # share of the requests; 1: the most that was recorded
    assume: Mapping[str, int] = field(default_factory=dict)  # instead of the standard values
    named: Mapping[int, str] = field(default_factory=dict)  # sizes that are a setting of their own
