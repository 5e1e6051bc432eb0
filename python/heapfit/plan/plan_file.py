# SPDX-License-Identifier: Apache-2.0
"""A plan file: a plan together with what it was made from.

It is TOML, to be read and edited by hand; docs/plan-schema.md describes every key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from heapfit import _engine
from heapfit.atomic_file import file_aside
from heapfit.errors import HeapfitError
from heapfit.plan.plan import LARGEST_REGION, Plan, plan_table, read_plan
from heapfit.plan.toml_table import FileKind, Table, read_document, show

SCHEMA = 1
MOST_MARGIN = 1000  # percent
_LARGEST_COUNT = 2**63 - 1  # TOML's own
_KIND = FileKind("plan", "docs/plan-schema.md")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_CONTENT = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SeenTrace:
    """One of several recordings that a plan was made from."""

    trace: str  # its name, for people; printable
    content: str  # heapfit.trace.content.content_hash: equal for equal requests


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The recording a plan was made from; several stand for one, each after the other."""

    trace: str  # its name, for people; printable
    content: str  # heapfit.trace.content.content_hash: equal for equal requests
    events: int
    kind: str = "heap"  # or "packets"
    traces: tuple[SeenTrace, ...] = ()  # each of several

    def has_seen(self, content: str) -> bool:
        """Whether a trace of this content is the one, or one of those, that it was made from."""
        return content in {self.content, *(seen.content for seen in self.traces)}


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan with all that generate, compare and a reader need to know of it. Sizes in bytes."""

    name: str  # a letter, then letters, digits, "_" and "-"; at most 64
    plan: Plan
    region: int | None  # what to set the heap to, its margin included; None: none was found
    r_min: int | None
    base_alignment: int  # of the region's start: at least the plan's and the trace's largest
    u_max: int  # most live bytes of the trace
    pointer_bits: int  # of the recorded program: 32, 64 or 0 (unknown)
    trained_on: TrainedOn
    heapfit_version: str
    r_safe: int | None = None  # R_safe on what it was trained on; None: not told
    peak: int | None = None  # live bytes that `region` is for; None: u_max
    margin: float | None = None  # percent of `region` beyond what these need; None: not told

    @property
    def runs(self) -> int:
        """How many recordings it was made from."""
        return max(len(self.trained_on.traces), 1)


def save_plan(path: Path, plan_file: PlanFile) -> None:
    """Writes a plan file, aside and then renamed."""
    text = (
        "# A heapfit plan; docs/plan-schema.md describes every key. Sizes are in bytes.\n"
        "# After an edit, `heapfit compare TRACE --plan THIS` tells the region it needs now.\n"
        + tomli_w.dumps(_document(plan_file))
    )
    with file_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")


def load_plan(path: Path) -> PlanFile:
    """Reads a plan file; HeapfitError names the file, the key and what to do."""
    top = Table(path, _KIND, "", read_document(path, _KIND))
    schema = top.whole("schema", 0, _LARGEST_COUNT)
    if schema != SCHEMA:
        top.refuse(
            "schema",
            f"the plan has version {schema}, heapfit {_engine.version} reads {SCHEMA} "
            "(make it anew with heapfit fit)",
        )
    plan_file = _read_plan_file(top)
    top.finish()
    _check_region(top, plan_file)
    return plan_file


def _document(plan_file: PlanFile) -> dict[str, Any]:
    found = {
        "region": plan_file.region,
        "peak": plan_file.peak,
        "margin": plan_file.margin,
        "r_safe": plan_file.r_safe,
        "r_min": plan_file.r_min,
    }
    return {
        "schema": SCHEMA,
        "name": plan_file.name,
        "heapfit": plan_file.heapfit_version,
        **{key: value for key, value in found.items() if value is not None},
        "base_alignment": plan_file.base_alignment,
        "u_max": plan_file.u_max,
        "pointer_bits": plan_file.pointer_bits,
        "trained_on": {
            "trace": plan_file.trained_on.trace,
            "content": plan_file.trained_on.content,
            "events": plan_file.trained_on.events,
            "kind": plan_file.trained_on.kind,
            **_seen_tables(plan_file.trained_on.traces),
        },
        "plan": plan_table(plan_file.plan),
    }


def _seen_tables(traces: tuple[SeenTrace, ...]) -> dict[str, Any]:
    tables = [{"trace": seen.trace, "content": seen.content} for seen in traces]
    return {"traces": tables} if tables else {}


def _read_plan_file(top: Table) -> PlanFile:
    name = top.text("name")
    if not _NAME.fullmatch(name):
        top.refuse("name", f"must be a letter, then letters, digits, _ and -, not {show(name)}")
    sizes = {
        key: top.whole(key, 1, LARGEST_REGION) if top.has(key) else None
        for key in ("region", "r_safe", "r_min")
    }
    base_alignment = top.whole("base_alignment", 4, 2**31)
    if base_alignment & (base_alignment - 1):
        top.refuse("base_alignment", f"must be a power of two, not {base_alignment}")
    pointer_bits = top.whole("pointer_bits", 0, 64)
    if pointer_bits not in (0, 32, 64):
        top.refuse("pointer_bits", f"must be 32, 64 or 0 (unknown), not {pointer_bits}")
    return PlanFile(
        name=name,
        plan=read_plan(top.table("plan")),
        **sizes,
        base_alignment=base_alignment,
        u_max=top.whole("u_max", 0, _LARGEST_COUNT),
        pointer_bits=pointer_bits,
        trained_on=_read_trained_on(top.table("trained_on")),
        heapfit_version=top.text("heapfit"),
        peak=top.whole("peak", 0, _LARGEST_COUNT) if top.has("peak") else None,
        margin=top.number("margin", 0, MOST_MARGIN) if top.has("margin") else None,
    )


def _read_trained_on(table: Table) -> TrainedOn:
    trace = table.text("trace")
    content = _read_content(table)
    events = table.whole("events", 0, _LARGEST_COUNT)
    kind = table.text("kind")
    if kind not in ("heap", "packets"):
        table.refuse("kind", f'must be "heap" or "packets", not {show(kind)}')
    tables = table.tables("traces") if table.has("traces") else []
    table.finish()
    return TrainedOn(trace, content, events, kind, tuple(map(_read_seen, tables)))


def _read_seen(table: Table) -> SeenTrace:
    seen = SeenTrace(table.text("trace"), _read_content(table))
    table.finish()
    return seen


def _read_content(table: Table) -> str:
    content = table.text("content")
    if not _CONTENT.fullmatch(content):
        table.refuse("content", "must be sha256: and 64 hexadecimal digits")
    return content


def _check_region(top: Table, plan_file: PlanFile) -> None:
    try:
        engine_plan = plan_file.plan.engine()
    except HeapfitError as error:
        top.refuse("plan", str(error))
    if plan_file.base_alignment < engine_plan.alignment:
        top.refuse(
            "base_alignment",
            f"{plan_file.base_alignment} is below the plan's alignment of {engine_plan.alignment}",
        )
    smallest = engine_plan.smallest_region
    sizes = {"region": plan_file.region, "r_safe": plan_file.r_safe, "r_min": plan_file.r_min}
    for key, size in sizes.items():
        if size is not None and size < smallest:
            top.refuse(
                key,
                f"{size} is below the {smallest} bytes this plan needs to start "
                "(`heapfit compare TRACE --plan` tells the region it needs)",
            )


def pointer_size_warning(kind: str, pointer_bits: int) -> str | None:
    """One sentence for a heap not recorded on 32 bit, None otherwise.

    >>> pointer_size_warning("packets", 0)
    """
    if kind != "heap" or pointer_bits == 32:
        return None
    recorded = f"recorded on {pointer_bits} bit" if pointer_bits else "recorded on unknown bits"
    return f"{recorded}: sizes on a 32-bit target will differ; record on the target or with -m32"
