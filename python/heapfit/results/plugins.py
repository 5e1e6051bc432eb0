# SPDX-License-Identifier: Apache-2.0
"""Rows of plug-ins: what `heapfit compare --plugin` prints of allocators that are not ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from heapfit.plugin import PluginRow
from heapfit.plugin.faults import NOT_RUN
from heapfit.results.parts import Column, Line, Part, Table, which_hold

LabelledRow = tuple[str, PluginRow]  # of which trace
_SHOWN_STATICS = 4

_COLUMNS: tuple[Column[PluginRow], ...] = (
    Column("name", "plug-in"),
    Column("bits", "bits"),
    Column("is_sized", "frees by size", shown=lambda row: "yes" if row.is_sized else "no"),
    Column("r_min", "R_min"),
    Column("r_safe", "R_safe"),
    Column("step", "step", shown=lambda row: row.step or None),
    Column("alignment", "alignment"),
    Column("over_u_max", "over U_max"),
    Column("accesses_per_operation", "accesses/operation"),
    Column("loads"),
    Column("stores"),
    Column("payload_bytes"),
    Column("statics_bytes", "variables"),
    Column("statics", value=lambda row: dict(row.statics)),
    Column("footprint"),
    Column("events_replayed"),
    Column("attacks", value=lambda row: dict(row.attacks)),
    Column("extremes", value=lambda row: dict(row.extremes)),
    Column("misuse", value=lambda row: dict(row.misuse)),
    Column("faults", "faults", lambda row: list(map(str, row.faults)), lambda row: len(row.faults)),
)


def plugin_parts(rows: Sequence[LabelledRow]) -> list[Part]:
    """A table of all plug-ins on all traces, then their variables and faults."""
    if not rows:
        return []
    several = len({label for label, _ in rows}) > 1
    trace: Column[LabelledRow] = Column("trace", "trace" if several else "", lambda one: one[0])
    told: Iterable[Column[LabelledRow]] = (
        column.adapt(lambda labelled: labelled[1]) for column in _COLUMNS
    )
    return [
        Line(""),
        Table([*told, trace], rows, "plugins"),
        Line("variables: bytes a plug-in writes outside the region; they count in R."),
        *map(Line, _explain_rows([row for _, row in rows])),
    ]


def _explain_rows(rows: Sequence[PluginRow]) -> list[str]:
    distinct = {row.name: row for row in rows}.values()
    with_variables = {row.name: row for row in rows if row.statics}.values()
    uncounted = [row for row in rows if row.accesses_per_operation is None and not row.faults]
    return [
        *map(_describe_variables, with_variables),
        *(text for row in distinct for text in _describe_attacks(row)),
        *which_hold(
            (
                any(row.bits != 32 for row in rows),
                "64 bits: pointers in headers are twice as large as on 32.",
            ),
            (uncounted, "accesses/operation -: not compiled here by gcc, so not counted."),
        ),
        *(text for row in rows for text in _describe_faults(row)),
    ]


def _describe_variables(row: PluginRow) -> str:
    largest = ", ".join(f"{name} {size}" for name, size in row.statics[:_SHOWN_STATICS])
    more = len(row.statics) - _SHOWN_STATICS
    return f"{row.name}: {largest}" + (f" and {more} smaller ones." if more > 0 else ".")


def _describe_attacks(row: PluginRow) -> list[str]:
    left_out = [name for name, outcome in row.attacks.items() if outcome == NOT_RUN]
    return [
        f"{row.name}, misused: {_join_outcomes(row.misuse)}.",
        f"{row.name}, extreme requests: {_join_outcomes(row.extremes)}.",
        *which_hold((left_out, f"{row.name}, attacks not run: {', '.join(left_out)}.")),
    ]


def _describe_faults(row: PluginRow) -> list[str]:
    unserved = (
        f"{row.name}: serves the trace in no region tried (does its plugin_init "
        f"take an alignment of {row.alignment}?)."
    )
    faults = [f"{row.name}: {fault}." for fault in row.faults]
    return faults or which_hold((row.r_min is None, unserved))


def _join_outcomes(outcomes: Mapping[str, str]) -> str:
    return "; ".join(f"{what}: {outcome}" for what, outcome in outcomes.items())
