# SPDX-License-Identifier: Apache-2.0
"""Rows of plug-ins: what compare says of allocators that are not ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heapfit.drawing.parts import Column, Line, Part, Table, columns
from heapfit.grouping import group
from heapfit.plugin import PluginRow
from heapfit.plugin.faults import NO_HARM

LabelledRow = tuple[str, PluginRow]  # of which trace
_SHOWN_STATICS = 4

_COLUMNS: tuple[Column[LabelledRow], ...] = tuple(
    column.adapt(lambda labelled: labelled[1])
    for column in (
        *columns("name", "bits", "is_sized", "payload_bytes", "statics_bytes"),
        Column("statics", value=lambda row: dict(row.statics)),
        *columns("events_replayed", "notes"),
        Column("attacks", value=lambda row: dict(row.attacks)),
        Column("extremes", value=lambda row: dict(row.extremes)),
        Column("misuse", value=lambda row: dict(row.misuse)),
        Column("faults", value=lambda row: list(map(str, row.faults))),
    )
)


def plugin_parts(rows: Sequence[LabelledRow]) -> list[Part]:
    """What is said of plug-ins beside their rows in the table, their faults last."""
    distinct = {row.name: row for _, row in rows}.values()
    return [
        Table([*_COLUMNS, Column("trace", value=lambda one: one[0])], rows, "plugins"),
        *(Line(_describe_build(row)) for row in distinct),
        *map(Line, dict.fromkeys(f"{row.name}: {note}." for _, row in rows for note in row.notes)),
        *(Line(text) for row in distinct for text in _describe_attacks(row)),
        *(Line(text) for _, row in rows for text in _describe_faults(row)),
    ]


def _describe_build(row: PluginRow) -> str:
    """The width of a plug-in, and the variables that it keeps outside its region."""
    largest = ", ".join(f"{name} {size}" for name, size in row.statics[:_SHOWN_STATICS])
    named = f" ({largest}{', ...' * (len(row.statics) > _SHOWN_STATICS)})" if largest else ""
    return (
        f"{row.name}: your plug-in, built for {row.bits} bits; {row.statics_bytes:,} B of variables"
        f"{named} count in R."
    )


def _describe_attacks(row: PluginRow) -> list[str]:
    outcomes = group((outcome, name) for name, outcome in row.attacks.items() if outcome != NO_HARM)
    return [
        f"{row.name}, misused (what callers must not do): {_join_outcomes(row.misuse)}.",
        f"{row.name}, extreme requests: {_join_outcomes(row.extremes)}.",
        *(f"{row.name}, attacks, {one}: {', '.join(names)}." for one, names in outcomes.items()),
    ]


def _describe_faults(row: PluginRow) -> list[str]:
    told = row.faults or (
        "no fault was found in its replays"
        if row.r_min is not None
        else "serves the trace in no region tried (does its plugin_init take an alignment of "
        f"{row.alignment}?)",
    )
    return [f"{row.name}: {one}." for one in told]


def _join_outcomes(outcomes: Mapping[str, str]) -> str:
    return "; ".join(f"{what}: {outcome}" for what, outcome in outcomes.items())
